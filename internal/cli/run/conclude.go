package run

import (
	"context"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/cli/output"
	jobcore "github.com/stint-dev/stint/internal/job"
)

const (
	// failuresShown is the number of failed pods that are shown for a Job, lastLines the number of lines of their logs.
	failuresShown = 10
	lastLines     = 10
	// podsLate is how long after a Job has finished the watch may show its last pods.
	podsLate = 5 * time.Second
	// concludedAtOnce bounds how many finished Jobs are concluded at a time.
	concludedAtOnce = 16
)

// concluder shows the rest of the logs and the outcome of finished Jobs.
type concluder struct {
	*connection
	out  output.Output
	jobs *tracker
	pods *podReader
	// recall is Options.Recall.
	recall func(context.Context, *batchv1.Job) *batchv1.Job
	// joined is set if the Job existed before this run.
	joined bool

	slots chan struct{}
	all   sync.WaitGroup
}

// conclude reads the rest of a Job's logs and shows its outcome, in the background: see wait.
func (c *concluder) conclude(ctx context.Context, e ending, stopping bool) {
	timeout := c.podTimeout(e)
	c.all.Go(func() {
		c.slots <- struct{}{}
		defer func() { <-c.slots }()
		job := c.complete(ctx, e)
		result := resultOf(job, e)
		if !e.gone || !stopping {
			failed := c.pods.finish(ctx, job, timeout)
			if result.Outcome == output.Failed {
				c.explain(ctx, &result, failed)
			}
		}
		c.out.Finish(result)
		c.jobs.conclude(e.job.UID, result.Outcome)
	})
}

// wait returns when all calls of conclude are done.
func (c *concluder) wait() { c.all.Wait() }

// complete returns the Job with its terminal condition, if that can be found out.
func (c *concluder) complete(ctx context.Context, e ending) *batchv1.Job {
	job := e.job
	if !jobcore.Finished(job) && c.recall != nil {
		job = c.recall(ctx, job)
	}
	if !jobcore.Finished(job) && e.unseen {
		job = c.endByEvents(ctx, job)
	}
	return job
}

func resultOf(job *batchv1.Job, e ending) output.Result {
	result := output.Result{Job: e.ref, Outcome: output.Deleted, Succeeded: job.Status.Succeeded,
		Failures: job.Status.Failed, Took: took(job), Unseen: e.unseen}
	if condition := jobcore.End(job); condition != nil {
		result.Outcome = output.Outcome(condition.Type)
		result.Reason, result.Message = condition.Reason, condition.Message
		if condition.Reason == batchv1.JobReasonDeadlineExceeded {
			result.Waiting, result.MoreWaiting = e.waiting, e.moreWaiting
		}
	}
	return result
}

// podTimeout is how long to wait until the watch shows counted pods that can no longer be listed. The watch shows all pods of
// a Job that this run has created, but not earlier pods of a Job that existed before.
func (c *concluder) podTimeout(e ending) time.Duration {
	switch {
	case e.gone:
		return c.lateDataTimeout
	case e.how == output.Followed || c.joined || c.moved:
		return 0
	}
	return podsLate
}

// explain adds the newest failed pods and the last lines of their logs.
func (c *concluder) explain(ctx context.Context, r *output.Result, failed []*corev1.Pod) {
	slices.SortStableFunc(failed, func(a, b *corev1.Pod) int {
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
	shown := failed[:min(len(failed), failuresShown)]
	r.MorePods = max(len(failed), int(r.Failures)) - len(shown)
	r.Results = c.caller.Command(r.Namespace, "results", r.Name)
	r.Pods = make([]output.PodFailure, len(shown))
	// Logs that cannot be read are left out.
	_ = inParallel(len(shown), func(i int) error {
		r.Pods[i] = podFailure(r.Job, shown[i])
		r.Pods[i].LastLines = c.pods.tail(ctx, shown[i])
		return nil
	})
}
