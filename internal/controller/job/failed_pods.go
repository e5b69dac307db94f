package job

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	core "github.com/stint-dev/stint/internal/job"
)

// observeFailedPodsLimit makes the pod cache keep the counted failed pods of a Job with a limit for them, and of no
// other: how many are kept depends on the limit and not on how many pods have failed.
func (c *Controller) observeFailedPodsLimit(job *batchv1.Job) {
	limited := c.options.settings().LimitOfFailedPods(job) != nil
	changed := c.podCache.setLimited(job.UID, limited)
	if changed && job.Status.Failed > 0 && c.allFailedFound.Load() {
		c.findFailed(job.UID)
	}
}

// observeFirstFailure looks for failed pods once the status of a Job has failures. The informer may have shown the failed pods
// before it, while the Job was not cached or had no failure to look for.
func (c *Controller) observeFirstFailure(was, is *batchv1.Job) {
	if was.Status.Failed == 0 && is.Status.Failed > 0 && c.podCache.limits(is.UID) && c.allFailedFound.Load() {
		c.findFailed(is.UID)
	}
}

// findFailed observes the counted failed pods of a Job again that the informer has shown before the Job or its limit.
func (c *Controller) findFailed(job types.UID) {
	for _, obj := range c.podInformer.GetStore().List() {
		p := obj.(*corev1.Pod)
		if ref := jobRef(p); ref != nil && ref.UID == job && core.CountedAsFailed(p) {
			c.podCached(p, p)
		}
	}
}

// findAllFailed is findFailed for all Jobs that were cached before the controller runs.
func (c *Controller) findAllFailed() {
	for _, obj := range c.podInformer.GetStore().List() {
		if p := obj.(*corev1.Pod); core.CountedAsFailed(p) && jobRef(p) != nil {
			c.podCached(p, p)
		}
	}
	c.allFailedFound.Store(true)
}

// deleteFailed deletes failed pods that a Job has too many of.
func (c *Controller) deleteFailed(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) error {
	return c.each(ctx, pods, func(p *corev1.Pod) error {
		if _, err := c.deletePod(ctx, job, p); err != nil {
			return err
		}
		c.left.remove(job.UID, p.UID)
		c.metrics.failedPodsRemoved.Inc()
		return nil
	})
}
