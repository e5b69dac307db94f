package run

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/output"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// trackedJob is a Job of a run as it was last seen. The tracker that has it guards it.
type trackedJob struct {
	job         *batchv1.Job
	ref         output.Job
	order       int
	how         output.How
	meter       rateMeter
	waitingPods *waitingPods
	// gone: the Job was deleted, and unseen: what job tells may be older than that. stopping: this run has deleted it.
	// ended: it is gone or has a terminal condition, and is being concluded.
	gone     bool
	unseen   bool
	stopping bool
	ended    bool
	// failedPods were told of already, failure is how the newest of them failed; retryAt is when the next pod comes, where
	// that is known.
	failedPods map[types.UID]bool
	failure    string
	retryAt    time.Time
	// outcome is set when the conclusion is written.
	outcome output.Outcome
	// updated since the loop last looked.
	updated bool
}

func newTracked(job *batchv1.Job, how output.How, order int) *trackedJob {
	return &trackedJob{job: job, ref: output.Job{Namespace: job.Namespace, Name: job.Name}, how: how, order: order,
		waitingPods: newWaits(), failedPods: map[types.UID]bool{}, updated: true}
}

// isOver reports whether the Job has ended or is gone.
func (t *trackedJob) isOver() bool { return jobcore.Finished(t.job) || t.gone }

// progress is what the output is told about a Job.
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

// ending is a Job that has ended, as it was known then.
type ending struct {
	job    *batchv1.Job
	ref    output.Job
	how    output.How
	gone   bool
	unseen bool
	// waiting are some pods that never got to run; there are moreWaiting others.
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
