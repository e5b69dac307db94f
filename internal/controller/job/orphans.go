package job

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
)

// findOrphans observes the orphan pods that the selector of job matches.
func (c *Controller) findOrphans(job *batchv1.Job) {
	for _, obj := range c.podInformer.GetStore().List() {
		pod := obj.(*corev1.Pod)
		if pod.Namespace != job.Namespace || metav1.GetControllerOfNoCopy(pod) != nil {
			continue
		}
		if uid, _, found := c.selectorIndex.find(pod); found && uid == job.UID {
			c.podCache.observePod(uid, pod)
		}
	}
}

// findAllOrphans observes pods again that were cached before the Job that may adopt or release them.
func (c *Controller) findAllOrphans() {
	for _, obj := range c.podInformer.GetStore().List() {
		pod := obj.(*corev1.Pod)
		ref := metav1.GetControllerOfNoCopy(pod)
		if ref == nil || !c.selectorIndex.matches(ref.UID, pod) {
			c.podCached(pod, pod)
		}
	}
}

// removeOrphanFinalizer removes the tracking finalizer of a pod that no Job will ever count. With it, the pod could not be
// deleted.
func (c *Controller) removeOrphanFinalizer(ctx context.Context, key types.NamespacedName) error {
	pod := loop.Cached[*corev1.Pod](c.podInformer, key)
	if pod == nil || !core.HasFinalizer(pod) {
		return nil
	}
	needed, err := c.isStillUncounted(ctx, pod)
	if err != nil || needed {
		return err
	}
	_, err = c.client.Pods().Modify(ctx, pod, core.RemoveFinalizer)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing the finalizer of pod %s, which belongs to no Job: %w", key, err)
	}
	return nil
}

// isStillUncounted reports whether a Job, of this controller or another, still has to count pod.
func (c *Controller) isStillUncounted(ctx context.Context, pod *corev1.Pod) (bool, error) {
	uid, key, claimed := c.jobFor(pod)
	if !claimed {
		// The pod is controlled by an object that is not a Job, and so are its finalizers.
		return metav1.GetControllerOfNoCopy(pod) != nil, nil
	}
	job := c.job(key)
	if job == nil || job.UID != uid {
		if _, gone := c.gone.Get(uid); gone {
			return false, nil
		}
		var err error
		// The informer may lag, and a pod that loses its finalizer too early is never counted.
		if job, err = c.client.Jobs().Get(ctx, key.Namespace, key.Name); err != nil && !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("asking for Job %s, which pod %s names as its owner: %w", key, pod.Name, err)
		}
		if err != nil || job.UID != uid {
			c.gone.Add(uid, nil)
			c.podCache.forget(uid)
			return false, nil
		}
	}
	return !c.options.manages(job) || !core.Finished(job), nil
}
