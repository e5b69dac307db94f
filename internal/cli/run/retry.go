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

// minRetryQuery is the shortest time between two queries to the server about retries or pulls.
const minRetryQuery = time.Second

// isDelayed reports whether a Job seems to wait for a backoff delay whose end is not known yet: it has failed pods and no active
// ones.
func (t *trackedJob) isDelayed(now time.Time) bool {
	status := t.job.Status
	return !t.ended && status.Failed > 0 && status.Active == 0 && !ptr.Deref(t.job.Spec.Suspend, false) && !jobcore.Finished(t.job) &&
		!t.retryAt.After(now)
}

// retries asks the server when Jobs that wait for a backoff delay get their next pods. It asks about one Job at a time.
type retries struct {
	*connection
	jobs *tracker

	mu sync.Mutex
	// asking is set while a query runs, which began at askedAt.
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

// delayed returns a Job for which isDelayed is true, or nil.
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

// retriedAt records when a Job gets its next pod, unless another one has failed meanwhile.
func (r *tracker) retriedAt(job *batchv1.Job, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.byUID[job.UID]; t != nil && t.job.Status.Failed == job.Status.Failed {
		t.retryAt = at
	}
}

// delayedUntil returns the end of the Job's backoff delay; zero if there is none or it is unknown.
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
