package run

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/output"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// trackedJob is a Job of a run as last observed. It is guarded by the tracker's mutex.
type trackedJob struct {
	job         *batchv1.Job
	ref         output.Job
	order       int
	how         output.How
	meter       rateMeter
	waitingPods *waitingPods
	// gone is set if the Job was deleted, unseen if in addition job may be older than its last version, stopping if this run has
	// deleted it, ended if it is finished or gone and conclude has been called.
	gone     bool
	unseen   bool
	stopping bool
	ended    bool
	// failedPods have been shown, failure says how the newest of them failed; retryAt is the end of the backoff delay, if
	// known.
	failedPods map[types.UID]bool
	failure    string
	retryAt    time.Time
	// outcome is set once it has been shown.
	outcome output.Outcome
	// updated is set if the Job has changed since the last call of changes.
	updated bool
}

func newTracked(job *batchv1.Job, how output.How, order int) *trackedJob {
	return &trackedJob{job: job, ref: output.Job{Namespace: job.Namespace, Name: job.Name}, how: how, order: order,
		waitingPods: newWaits(), failedPods: map[types.UID]bool{}, updated: true}
}

// isOver reports whether the Job is finished or gone.
func (t *trackedJob) isOver() bool { return jobcore.Finished(t.job) || t.gone }

// progress returns the progress of a Job for the output.
func (t *trackedJob) progress(now time.Time) output.Progress {
	status := t.job.Status
	t.meter.add(now, status.Succeeded)
	p := output.Progress{Job: t.ref, Order: t.order, At: now, Active: status.Active, Succeeded: status.Succeeded, Failed: status.Failed,
		Retries: ptr.Deref(jobcore.FailureLimit(t.job), 0), RetryAt: t.retryAt, Failure: t.failure,
		WaitsFor: awaitedBy(t.job), Wanted: wanted(t.job), Suspended: t.job.Spec.Suspend != nil && *t.job.Spec.Suspend, Rate: t.meter.rate()}
	if p.Wanted > 0 {
		p.Left = t.meter.remaining(p.Wanted - p.Succeeded)
	}
	return p
}

// ending is a finished or deleted Job as last observed.
type ending struct {
	job    *batchv1.Job
	ref    output.Job
	how    output.How
	gone   bool
	unseen bool
	// waiting are some pods that never ran; there are moreWaiting others.
	waiting     []output.PodWait
	moreWaiting int
}

func (t *trackedJob) end() ending {
	e := ending{job: t.job, ref: t.ref, how: t.how, gone: t.gone, unseen: t.unseen}
	e.waiting, e.moreWaiting = t.waitingPods.neverRan(t.ref)
	return e
}

// took is how long the Job ran.
func took(job *batchv1.Job) time.Duration {
	if job.Status.StartTime == nil {
		return 0
	}
	if job.Status.CompletionTime != nil {
		return job.Status.CompletionTime.Sub(job.Status.StartTime.Time)
	}
	if c := jobcore.End(job); c != nil {
		return c.LastTransitionTime.Sub(job.Status.StartTime.Time)
	}
	return 0
}
