package job

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
)

// failPending sets pods to Failed that have not started in time. From then on they are failed pods like any other.
func (c *Controller) failPending(ctx context.Context, job *batchv1.Job, stuck []core.PendingTooLong) error {
	byPod := make(map[*corev1.Pod]core.PendingTooLong, len(stuck))
	pods := make([]*corev1.Pod, 0, len(stuck))
	for _, s := range stuck {
		byPod[s.Pod] = s
		pods = append(pods, s.Pod)
	}
	return c.each(ctx, pods, func(p *corev1.Pod) error { return c.failPendingPod(ctx, job, byPod[p]) })
}

// failPendingPod writes the status over no version but the one that it has just read: one in which the pod has
// started must never be overwritten. After a conflict the next sync decides again.
func (c *Controller) failPendingPod(ctx context.Context, job *batchv1.Job, s core.PendingTooLong) error {
	ctx = context.WithoutCancel(ctx)
	stored, err := c.storedPod(ctx, s.Pod)
	if err != nil {
		return fmt.Errorf("asking for pod %s/%s: %w", s.Pod.Namespace, s.Pod.Name, err)
	}
	if stored == nil || stored.UID != s.Pod.UID {
		c.podCache.Gone(s.Pod.UID)
		return nil
	}
	failed := stored.DeepCopy()
	now := c.options.Clock.Now()
	if !metav1.IsControlledBy(stored, job) || !s.Fail(failed, now) {
		c.podCache.ObserveWrite(job.UID, stored)
		return nil
	}
	written, err := c.client.Pods().UpdateStatus(ctx, failed)
	if apierrors.IsNotFound(err) {
		c.podCache.Gone(s.Pod.UID)
		return nil
	}
	if err != nil {
		return fmt.Errorf("failing pod %s/%s, which has not started: %w", s.Pod.Namespace, s.Pod.Name, err)
	}
	c.podCache.ObserveWrite(job.UID, written)
	c.podFreed(loop.Key(job), job.UID)
	c.recorder.Eventf(job, corev1.EventTypeWarning, core.PendingTimeoutReason, "Pod %s: %s", written.Name, written.Status.Message)
	return nil
}
