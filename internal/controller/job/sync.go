package job

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
)

// largeJobPods is how many pods a Job must have for its syncs to keep the whole pause between them, and to wait twice the
// batch period for its status.
const largeJobPods = 400

// syncAfterPause keeps a pause between two syncs of a Job, so that one sync handles the changes of many pods. The pause
// grows with the number of pods: a Job with one pod at a time has nothing to batch and is never kept waiting.
func (c *Controller) syncAfterPause(ctx context.Context, key types.NamespacedName) error {
	shown := c.job(key)
	if shown == nil || !c.options.manages(shown) {
		return nil
	}
	start, next := c.options.Clock.Now(), time.Time{}
	c.jobs.UpdateKnown(key, shown.UID, func(s *jobState) { next = s.nextSyncAt })
	if left := next.Sub(start); left > 0 {
		c.loop.Queue.AddAfter(key, left)
		return nil
	}
	done := syncResult{action: core.Reconciling}
	err := c.jobs.Sync(ctx, key, func(ctx context.Context, newest *batchv1.Job, _ bool) (again bool, err error) {
		done.pods, done.more = 0, false
		return c.decide(ctx, newest, &done)
	})
	now := c.options.Clock.Now()
	c.jobs.UpdateKnown(key, shown.UID, func(s *jobState) {
		s.startPause(now, c.options.SyncBatchPeriod, done.pods)
		if done.more {
			s.nextSyncAt = now
		}
	})
	c.metrics.synced(shown, done.action, err, now.Sub(start).Seconds())
	return err
}

// syncResult is what metrics and the next pause depend on.
type syncResult struct {
	action core.Action
	// pods is how many the last decision was about, and more is set if it left something to do at once.
	pods int
	more bool
}

// decide is one round of a sync.
func (c *Controller) decide(ctx context.Context, job *batchv1.Job, done *syncResult) (again bool, err error) {
	if core.Finished(job) {
		c.forgetFinished(job)
		return false, c.deleteFailed(ctx, job, c.options.settings().ExcessFailedPods(job, c.podCache.failed(job.UID)))
	}
	if !core.IsKnownCompletionMode(job) {
		c.recorder.Event(job, corev1.EventTypeWarning, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")
		return false, nil
	}
	c.warnOfAnnotations(job)
	obs, err := c.observe(ctx, job)
	if err != nil {
		return false, err
	}
	if !c.podCache.IsOpen(job.UID) {
		return false, nil // The Job was deleted meanwhile, and what was known of its pods dropped.
	}
	d := core.Decide(obs)
	done.pods, done.more = len(obs.Pods), d.RequeueFair
	if done.action == core.Reconciling {
		done.action = d.Action
	}
	if err := c.apply(ctx, job, d); err != nil {
		return false, ignoreNotFound(err)
	}
	if d.RequeueAfter > 0 {
		c.loop.Queue.AddAfter(loop.Key(job), d.RequeueAfter)
	}
	if d.RequeueFair {
		c.loop.Queue.Add(loop.Key(job))
	}
	return d.Requeue && !d.RequeueFair, nil
}

// forgetFinished drops what is known of a finished Job once the informer shows that it is finished.
func (c *Controller) forgetFinished(job *batchv1.Job) {
	shown := c.job(loop.Key(job))
	if shown == nil || shown.UID != job.UID || !core.Finished(shown) {
		return
	}
	c.selectorIndex.remove(shown)
	c.jobs.Forget(shown)
	c.results.Forget(shown.UID)
	for _, p := range c.podCache.forgetFinished(shown.UID) {
		c.orphans.Add(loop.Key(p))
	}
}

// ignoreNotFound returns nil where a Job or pod to write was deleted: the informer will show the deletion.
func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
