package run

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/cli/why"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// askPause is how often the server is asked at most when a Job gets its next pod.
const askPause = time.Second

// isDelayed reports whether all pods of the Job have failed, as far as it says, and no next one is known to be due.
func (t *tracked) isDelayed(now time.Time) bool {
	status := t.job.Status
	return !t.ended && status.Failed > 0 && status.Active == 0 && !ptr.Deref(t.job.Spec.Suspend, false) && !jobcore.Finished(t.job) &&
		!t.retryAt.After(now)
}

// askRetry finds out when a Job that waits gets its next pod: its controller knows the delay. One Job is asked about at a
// time.
func (s *session) askRetry(ctx context.Context) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking || now.Sub(s.askedAt) < askPause {
		return
	}
	for _, t := range s.jobs {
		if t.isDelayed(now) {
			s.asking, s.askedAt = true, now
			go s.ask(ctx, s.target.Config, t, t.job)
			return
		}
	}
}

func (s *session) ask(ctx context.Context, server *rest.Config, t *tracked, job *batchv1.Job) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	at := delayedUntil(ctx, server, job)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = false
	if t.job.Status.Failed == job.Status.Failed {
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
