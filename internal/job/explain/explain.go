// Package explain tells what a Job does and waits for, and what happens next, from what the core of the Job controller
// makes of an observation:
//
//	Observation ── job.Assess ──▶ Assessment ── Job ──▶ JobExplanation
//
// It decides nothing, and knows none of the rules: it finds the words. internal/explanation makes the observation.
//
// Each thing that can be told of a Job is a topic (topics.go) with a type and a file of its own, which knows the words for
// the states that it puts the Job in, for what is waited for, and for what comes next. Three lists say in which order the
// topics are told: states.go, waits.go, next.go.
package explain

import (
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// Circumstances are what an explanation tells of although no decision depends on it. The zero value will do.
type Circumstances struct {
	// TimesAssumed is set where the settings are the usual ones, not those of the controller at work.
	TimesAssumed bool
	// NoController is set where no controller works on Jobs: the data is looked at while no server runs.
	NoController bool
	// Results are those of pods that have ended, also of some that are gone.
	Results []stintv1.PodResult
	// Events are those about the Job and its pods.
	Events []corev1.Event
	// Dependents are the objects other than pods that belong to the Job, as KIND/NAME.
	Dependents []string
	// Holders are the other runs of its schedule that have not ended, where a concurrency policy holds the Job.
	Holders []string
}

// Job tells what a Job does or waits for, and what happens next, as the core assesses it.
func Job(obs job.Observation, about Circumstances) stintv1.JobExplanation {
	if about.TimesAssumed && job.IsLeftToKubernetes(obs.Job) {
		obs.Job = withoutAnnotations(obs.Job)
	}
	a := job.Assess(obs)
	t := newTopics(&a, about)
	s := t.state()
	return stintv1.JobExplanation{
		TypeMeta:   metav1.TypeMeta{APIVersion: stintv1.SchemeGroupVersion.String(), Kind: "JobExplanation"},
		ObjectMeta: metav1.ObjectMeta{Namespace: a.Job.Namespace, Name: a.Job.Name, UID: a.Job.UID},

		State:        s.name,
		Since:        s.since(),
		ObservedAt:   metav1.NewTime(a.Now.Truncate(time.Second)),
		Summary:      s.summary(),
		Manager:      job.ManagerOf(a.Job),
		TimesAssumed: about.TimesAssumed && !a.ExternalController,
		Progress:     progress(&a),
		Waits:        t.waits(s.name),
		Failures:     newestFailures(about.Results),
		Next:         t.next(),
	}
}

// withoutAnnotations is j without what Kubernetes' own controller does nothing about.
func withoutAnnotations(j *batchv1.Job) *batchv1.Job {
	j = j.DeepCopy()
	maps.DeleteFunc(j.Annotations, func(key, _ string) bool { return slices.Contains(job.Annotations(), key) })
	return j
}
