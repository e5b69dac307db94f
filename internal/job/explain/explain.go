// Package explain makes explanations: what a Job does, what it waits for, and what happens next. It starts from the
// assessment by the Job controller's core:
//
//	Observation ── job.Assess ──▶ Assessment ── Job ──▶ JobExplanation
//
// It decides nothing and knows none of the rules: it only puts the assessment into words. internal/explanation makes the
// observation.
//
// Each topic (topics.go) has a type and a file of its own, with the texts for the states that it puts the Job in, for what
// is waited for, and for what comes next. Three lists define the order of the topics: states.go, waits.go, next.go.
package explain

import (
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podneeds"
)

// Circumstances are facts that an explanation mentions although no decision depends on them. The zero value is valid.
type Circumstances struct {
	// TimesAssumed is set if the settings are the defaults, as those of the running controller are not known.
	TimesAssumed bool
	// NoController is set if no controller runs: the data directory is read while no server runs.
	NoController bool
	// Results are those of terminated pods, including pods that are gone.
	Results []stintv1.PodResult
	// Events are those about the Job, its pods and their claims.
	Events []corev1.Event
	// Largest says what pods take that are among the largest on the full disk of their node, by their UIDs.
	Largest map[types.UID]string
	// Dependents are the objects other than pods that belong to the Job, as KIND/NAME.
	Dependents []string
	// Holders are the other runs of its schedule that are not finished, if a concurrency policy holds the Job.
	Holders []string
	// Missing are the objects that do not exist, of those that the pod template needs.
	Missing []podneeds.Need
	// UnboundClaims are the existing claims of the Job's pods that cannot be used. Events includes those about them.
	UnboundClaims []*corev1.PersistentVolumeClaim
}

// Job explains what the observed Job does or waits for, and what happens next.
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

// withoutAnnotations returns j without the annotations that Kubernetes' own controller ignores.
func withoutAnnotations(j *batchv1.Job) *batchv1.Job {
	j = j.DeepCopy()
	maps.DeleteFunc(j.Annotations, func(key, _ string) bool { return slices.Contains(job.Annotations(), key) })
	return j
}
