package job

import (
	"context"
	"fmt"
	"sync/atomic"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// create makes pods in batches of 1, 2, 4 …, and stops after the first batch with an error: what one pod is refused
// for, the next hundred are too. A Job whose batches went well goes on with the size it had reached. It returns how many
// pods there are.
func (c *Controller) create(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) (made int, err error) {
	size := c.stateStore.batchSize(job.UID)
	for ; len(pods) > 0 && err == nil; size = min(2*size, maxPodWrites) {
		batch := pods[:min(size, len(pods))]
		pods = pods[len(batch):]
		var n atomic.Int64
		err = c.each(ctx, batch, func(p *corev1.Pod) error {
			err := c.createOne(ctx, job, p)
			if err == nil {
				n.Add(1)
			}
			return err
		})
		made += int(n.Load())
	}
	if err != nil {
		size = 1
		c.stateStore.createFailed(job.UID, c.options.Clock.Now(), err, made > 0)
	} else {
		c.stateStore.createSucceeded(job.UID)
	}
	c.stateStore.setBatchSize(job.UID, size)
	return made, err
}

func (c *Controller) createOne(ctx context.Context, job *batchv1.Job, p *corev1.Pod) error {
	made, err := c.client.Pods().Create(context.WithoutCancel(ctx), p)
	if err != nil {
		if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			c.recorder.Eventf(job, corev1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
		}
		return fmt.Errorf("creating a pod for Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	c.podCache.ObserveWrite(job.UID, made)
	c.recorder.Eventf(job, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: %v", made.Name)
	return nil
}
