package job

import (
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
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

// explainer is a view of a Job with what is about to be decided.
type explainer struct {
	view
	about Circumstances
	// foreign tells that the Job is left to a controller with rules that are not known here. There is no end and no plan
	// then but what is stored.
	foreign bool
	end     *Verdict
	plan    plan
}

// Explain tells what a Job does or waits for, and what happens next, from the same view, verdicts and plan as Decide.
func Explain(obs Observation, about Circumstances) stintv1.JobExplanation {
	e := newExplainer(obs, about)
	s := e.state()
	x := stintv1.JobExplanation{
		TypeMeta:   metav1.TypeMeta{APIVersion: stintv1.SchemeGroupVersion.String(), Kind: "JobExplanation"},
		ObjectMeta: metav1.ObjectMeta{Namespace: obs.Job.Namespace, Name: obs.Job.Name, UID: obs.Job.UID},

		State:        s.name,
		Since:        s.since(e),
		ObservedAt:   metav1.NewTime(obs.Now.Truncate(time.Second)),
		Summary:      s.say(e),
		Manager:      ManagerOf(obs.Job),
		TimesAssumed: about.TimesAssumed && !e.foreign,
		Progress:     e.progress(),
		Failures:     newestFailures(about.Results),
		Next:         e.next(),
	}
	for _, find := range findWaits() {
		x.Waits = append(x.Waits, find(e)...)
	}
	return x
}

func newExplainer(obs Observation, about Circumstances) *explainer {
	if about.TimesAssumed && isLeftToKubernetes(obs.Job) {
		obs.Job = obs.Job.DeepCopy()
		// Kubernetes' own controller does nothing that they ask for.
		maps.DeleteFunc(obs.Job.Annotations, func(key, _ string) bool { return slices.Contains(Annotations(), key) })
	}
	e := &explainer{view: look(obs), about: about, foreign: isForeign(obs.Job)}
	if len(e.adopt) > 0 && !e.foreign {
		e.view = look(withAdopted(obs, e.adopt))
	}
	if e.foreign || Finished(obs.Job) {
		e.end = storedVerdict(e.view)
		return e
	}
	e.end, e.plan = conclude(e.view)
	return e
}

// withAdopted is what is observed once the orphans are adopted, which every decision begins with.
func withAdopted(obs Observation, orphans []*corev1.Pod) Observation {
	obs.Pods = slices.Clone(obs.Pods)
	for i, p := range obs.Pods {
		if slices.Contains(orphans, p) {
			obs.Pods[i] = p.DeepCopy()
			Adopt(obs.Job, obs.Pods[i])
		}
	}
	return obs
}

// Stored is the observation of who has no memory of the Job, as of a controller that has just started.
func Stored(job *batchv1.Job, pods []*corev1.Pod, now time.Time, s Settings) Observation {
	obs := Observation{Job: job, Now: now, Settings: s}
	for _, p := range pods {
		if metav1.IsControlledBy(p, job) && Ended(p) && (p.DeletionTimestamp == nil || HasFinalizer(p)) {
			obs.History.Record(p)
		}
		obs.Pods = append(obs.Pods, p)
	}
	return obs
}

func (e *explainer) progress() stintv1.JobProgress {
	p := stintv1.JobProgress{
		Active:        int32(len(e.active)),
		Ready:         int32(countReady(e.active)),
		Terminating:   int32(len(e.terminating)),
		Succeeded:     e.succeeded,
		Failed:        e.failed,
		Completions:   e.job.Spec.Completions,
		Parallelism:   ptr.Deref(e.job.Spec.Parallelism, 1),
		FailedIndexes: int32(e.failedIndexes.Count()),
	}
	if e.job.Spec.BackoffLimit != nil || !perIndex(e.job) {
		p.FailureLimit = FailureLimit(e.job)
	}
	if perIndex(e.job) {
		p.MaxFailedIndexes = e.job.Spec.MaxFailedIndexes
	}
	return p
}

// unlimited is what defaults and people write where failures of indexes are to be counted, not those of the Job.
const unlimited = 1 << 30

// FailureLimit is how many pods of the Job may fail before it does; nil where failures are counted for each index.
func FailureLimit(job *batchv1.Job) *int32 {
	if limit := backoffLimit(job); limit < unlimited {
		return &limit
	}
	return nil
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
