package job

import (
	"context"
	"fmt"
	"sync/atomic"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	core "github.com/stint-dev/stint/internal/job"
)

// create creates the pods of a decision and returns how many were not created.
func (c *Controller) create(ctx context.Context, job *batchv1.Job, d core.Decision) (notCreated int, err error) {
	if len(d.Create) == 0 {
		return 0, nil
	}
	made, err := c.createAll(ctx, job, d.Create)
	notCreated = len(d.Create) - made
	c.metrics.created(d.Counts.CreationReason, made, notCreated)
	return notCreated, err
}

// createAll creates pods in batches of 1, 2, 4 …, and the rest as soon as that many may be under way. It stops after an error:
// an error for one pod, such as a quota, would most likely hit the others too. A Job whose batches succeeded goes on with the
// size that it had reached. It returns how many pods were created.
func (c *Controller) createAll(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) (made int, err error) {
	var size int
	c.jobs.Update(job, func(s *jobState) { size = max(1, s.batch) })
	for ; len(pods) > 0 && err == nil; size = min(2*size, maxPodWrites) {
		batch := pods
		if size < maxPodWrites {
			batch = pods[:min(size, len(pods))]
		}
		pods = pods[len(batch):]
		var n int
		n, err = c.createBatch(ctx, job, batch)
		made += n
	}
	c.jobs.Update(job, func(s *jobState) {
		if s.batch = size; err == nil {
			s.createBackoff = createBackoff{}
			return
		}
		s.batch = 1
		s.createBackoff.add(c.options.Clock.Now(), err, made > 0)
	})
	return made, err
}

// createBatch begins no creation once one has failed.
func (c *Controller) createBatch(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) (made int, err error) {
	var n atomic.Int64
	var failed atomic.Bool
	err = c.each(ctx, pods, func(p *corev1.Pod) error {
		if failed.Load() {
			return nil
		}
		err := c.createOne(ctx, job, p)
		if err != nil {
			failed.Store(true)
			return err
		}
		n.Add(1)
		return nil
	})
	return int(n.Load()), err
}

// podFreed shortens the delay after failed creations: what one of the pods of the Job used, a quota for example, is
// free again.
func (c *Controller) podFreed(key types.NamespacedName, job types.UID) {
	c.jobs.UpdateKnown(key, job, func(s *jobState) { s.createBackoff.resetDelay() })
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
