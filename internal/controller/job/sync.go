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

const (
	// maxSyncRounds bounds how often one sync decides; a Job that ends needs three.
	maxSyncRounds = 5
	// largeJobPods is how many pods a Job must have for its syncs to keep the whole pause between them, and to wait twice the
	// batch period for its status.
	largeJobPods = 400
)

// syncAfterPause keeps a pause between two syncs of a Job, so that one sync handles the news of many pods. The pause
// grows with the number of pods: a Job with one pod at a time has nothing to batch and is never kept waiting.
func (c *Controller) syncAfterPause(ctx context.Context, key types.NamespacedName) error {
	shown := c.job(key)
	if shown == nil || !c.options.manages(shown) {
		return nil
	}
	if left := c.stateStore.pauseLeft(shown.UID, c.options.Clock.Now()); left > 0 {
		c.loop.Queue.AddAfter(key, left)
		return nil
	}
	start := c.options.Clock.Now()
	action := core.Reconciling
	pods, err := c.sync(ctx, shown, &action)
	now := c.options.Clock.Now()
	c.stateStore.startPause(shown.UID, now, pods)
	c.metrics.synced(shown, action, err, now.Sub(start).Seconds())
	return err
}

// sync decides and applies until there is nothing left to do at once. It returns how many pods matter.
func (c *Controller) sync(ctx context.Context, shown *batchv1.Job, action *core.Action) (pods int, err error) {
	c.podCache.Open(shown.UID)
	defer func() {
		if awaits := c.podCache.Close(shown.UID); awaits {
			c.loop.Queue.AddAfter(loop.Key(shown), loop.CacheTimeout+time.Second)
		}
	}()
	for range maxSyncRounds {
		job := c.stateStore.newest(shown)
		if core.Finished(job) {
			c.forgetFinished(shown)
			return 0, c.removeFailed(ctx, job, c.options.settings().ExcessFailedPods(job, c.podCache.failed(job.UID)))
		}
		if !core.IsKnownCompletionMode(job) {
			c.recorder.Event(job, corev1.EventTypeWarning, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")
			return 0, nil
		}
		c.warnOfAnnotations(job)
		obs, err := c.observe(ctx, job)
		if err != nil {
			return 0, err
		}
		if !c.podCache.IsOpen(job.UID) {
			return 0, nil // The Job was deleted meanwhile, and what was known of its pods dropped.
		}
		d := core.Decide(obs)
		if *action == core.Reconciling {
			*action = d.Action
		}
		if err := c.apply(ctx, job, d); err != nil {
			return len(obs.Pods), ignoreNotFound(err)
		}
		if d.RequeueAfter > 0 {
			c.loop.Queue.AddAfter(loop.Key(job), d.RequeueAfter)
		}
		pods = len(obs.Pods)
		if d.RequeueFair {
			break
		}
		if !d.Requeue {
			return pods, nil
		}
	}
	c.loop.Queue.Add(loop.Key(shown))
	return pods, nil
}

// forgetFinished ends the controller's interest in a finished Job once the informer shows that it is.
func (c *Controller) forgetFinished(shown *batchv1.Job) {
	if !core.Finished(shown) {
		return
	}
	c.selectorIndex.remove(shown)
	c.stateStore.forget(shown.UID)
	c.results.Forget(shown.UID)
	for _, p := range c.podCache.forgetFinished(shown.UID) {
		c.orphans.Add(loop.Key(p))
	}
}

// ignoreNotFound makes nothing of writes to a Job or pod that is gone: the informer will tell.
func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
