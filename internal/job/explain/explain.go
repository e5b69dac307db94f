// Package explain tells what a Job does and waits for, and what happens next, from what the core of the Job controller
// makes of an observation:
//
//	Observation ── job.Assess ──▶ Assessment ── Job ──▶ JobExplanation
//
// It decides nothing, and knows none of the rules: it finds the words. internal/explanation makes the observation.
package explain

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// Circumstances are what an explanation tells of although no decision depends on it. The zero value will do.
type Circumstances struct {
	// TimesAssumed tells that the settings are the usual ones, not those of the controller at work.
	TimesAssumed bool
	// NoController tells that nobody works on Jobs: the data is looked at while no server runs.
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

// explainer is the core's assessment of a Job, with what else is known.
type explainer struct {
	job.Assessment
	about Circumstances
}

// Job tells what a Job does or waits for, and what happens next, as the core assesses it.
func Job(obs job.Observation, about Circumstances) stintv1.JobExplanation {
	e := newExplainer(obs, about)
	s := e.state()
	x := stintv1.JobExplanation{
		TypeMeta:   metav1.TypeMeta{APIVersion: stintv1.SchemeGroupVersion.String(), Kind: "JobExplanation"},
		ObjectMeta: metav1.ObjectMeta{Namespace: obs.Job.Namespace, Name: obs.Job.Name, UID: obs.Job.UID},

		State:        s.name,
		Since:        s.since(e),
		ObservedAt:   metav1.NewTime(obs.Now.Truncate(time.Second)),
		Summary:      s.say(e),
		Manager:      job.ManagerOf(obs.Job),
		TimesAssumed: about.TimesAssumed && !e.Foreign,
		Progress:     e.progress(),
		Failures:     newestFailures(about.Results),
		Next:         e.next(),
	}
	for _, find := range findWaits() {
		x.Waits = append(x.Waits, find(e)...)
	}
	return x
}

func newExplainer(obs job.Observation, about Circumstances) *explainer {
	if about.TimesAssumed && job.IsLeftToKubernetes(obs.Job) {
		obs.Job = obs.Job.DeepCopy()
		// Kubernetes' own controller does nothing that they ask for.
		maps.DeleteFunc(obs.Job.Annotations, func(key, _ string) bool { return slices.Contains(job.Annotations(), key) })
	}
	return &explainer{Assessment: job.Assess(obs), about: about}
}

func (e *explainer) progress() stintv1.JobProgress {
	p := stintv1.JobProgress{
		Active:        int32(len(e.Active)),
		Ready:         int32(e.Ready),
		Terminating:   int32(len(e.Terminating)),
		Succeeded:     e.Succeeded,
		Failed:        e.Failed,
		Completions:   e.Job.Spec.Completions,
		Parallelism:   ptr.Deref(e.Job.Spec.Parallelism, 1),
		FailedIndexes: int32(e.FailedIndexes.Count()),
	}
	if e.Job.Spec.BackoffLimit != nil || !perIndex(e.Job) {
		p.FailureLimit = job.FailureLimit(e.Job)
	}
	if perIndex(e.Job) {
		p.MaxFailedIndexes = e.Job.Spec.MaxFailedIndexes
	}
	return p
}

// failuresTold is how many failed pods an explanation has.
const failuresTold = 3

func newestFailures(results []stintv1.PodResult) []stintv1.PodResult {
	failures := slices.DeleteFunc(slices.Clone(results), func(r stintv1.PodResult) bool { return r.Phase != corev1.PodFailed })
	slices.SortStableFunc(failures, func(a, b stintv1.PodResult) int { return endOf(b).Compare(endOf(a)) })
	return failures[:min(len(failures), failuresTold)]
}

func endOf(r stintv1.PodResult) time.Time {
	for _, t := range []*metav1.Time{r.FinishedAt, r.StartedAt, r.CreatedAt} {
		if t != nil {
			return t.Time
		}
	}
	return time.Time{}
}
