package run

import (
	"context"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/cli/why"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// minRetryQuery is how often the server is asked at most when a Job gets its next pod.
const minRetryQuery = time.Second

// isDelayed reports whether all pods of the Job have failed, as far as it says, and no next one is known to be due.
func (t *trackedJob) isDelayed(now time.Time) bool {
	status := t.job.Status
	return !t.ended && status.Failed > 0 && status.Active == 0 && !ptr.Deref(t.job.Spec.Suspend, false) && !jobcore.Finished(t.job) &&
		!t.retryAt.After(now)
}

// retries finds out when Jobs that wait get their next pods: their controller knows the delay. One Job is asked about at a
// time.
type retries struct {
	*connection
	jobs *tracker

	mu sync.Mutex
	// asking: the server is being asked, as it was at askedAt.
	asking  bool
	askedAt time.Time
}

// ask asks about one Job, unless it is too early.
func (r *retries) ask(ctx context.Context) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asking || now.Sub(r.askedAt) < minRetryQuery {
		return
	}
	if job := r.jobs.delayed(now); job != nil {
		r.asking, r.askedAt = true, now
		go r.askAbout(ctx, r.target.Config, job)
	}
}

func (r *retries) askAbout(ctx context.Context, server *rest.Config, job *batchv1.Job) {
	ctx, cancel := context.WithTimeout(ctx, r.lateDataTimeout)
	defer cancel()
	r.jobs.retriedAt(job, delayedUntil(ctx, server, job))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asking = false
}

// delayed is a Job that waits for its next pod, if there is one.
func (r *tracker) delayed(now time.Time) *batchv1.Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byUID {
		if t.isDelayed(now) {
			return t.job
		}
	}
	return nil
}

// retriedAt notes when a Job gets its next pod, unless another has failed meanwhile.
func (r *tracker) retriedAt(job *batchv1.Job, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.byUID[job.UID]; t != nil && t.job.Status.Failed == job.Status.Failed {
		t.retryAt = at
	}
}

// delayedUntil is zero where the Job waits for no delay, or it cannot be told.
func delayedUntil(ctx context.Context, server *rest.Config, job *batchv1.Job) time.Time {
	asker, err := why.NewAsker(server)
	if err != nil {
		return time.Time{}
	}
	explained, err := asker.Job(ctx, job.Namespace, job.Name, time.Now())
	if err != nil {
		return time.Time{}
	}
	for _, w := range explained.Waits {
		if w.For == stintv1.WaitForDelay && w.Until != nil {
			return w.Until.Time
		}
	}
	return time.Time{}
}
