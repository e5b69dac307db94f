package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
)

func (c *Controller) jobHandler() cache.ResourceEventHandler {
	return loop.Handler(func(was, is *batchv1.Job) {
		c.dependencyChanged(was, is)
		switch {
		case is == nil:
			c.jobGone(was)
		case was == nil:
			c.jobAdded(is)
		default:
			c.jobChanged(was, is)
		}
	})
}

func (c *Controller) jobChanged(was, is *batchv1.Job) {
	if was.Generation != is.Generation {
		c.stateStore.createSucceeded(is.UID) // the template may be one now of which pods can be made
	}
	if was.Annotations[core.FailedPodsLimit] != is.Annotations[core.FailedPodsLimit] {
		c.findFailed(is)
	}
	if !c.stateStore.isOwn(is) || core.Finished(is) {
		c.loop.Queue.Add(loop.Key(is))
	}
}

func (c *Controller) jobAdded(job *batchv1.Job) {
	if !c.options.manages(job) {
		if job.Spec.ManagedBy != nil {
			c.metrics.externalJobs.WithLabelValues(*job.Spec.ManagedBy).Inc()
		}
		c.podCache.forget(job.UID)
		return
	}
	if c.selectorIndex.add(job) {
		c.findOrphans(job)
	}
	if job.Status.Failed > 0 {
		c.findFailed(job)
	}
	c.loop.Queue.Add(loop.Key(job))
}

// jobGone leaves it to others to delete the Job's pods, but they must be able to.
func (c *Controller) jobGone(job *batchv1.Job) {
	c.gone.Add(job.UID, nil)
	c.selectorIndex.remove(job)
	// The cache goes first: by that, a sync under way notices.
	for _, p := range c.podCache.forget(job.UID) {
		c.orphans.Add(loop.Key(p))
	}
	c.stateStore.forget(job.UID)
	c.results.Forget(job.UID)
	c.failed.forget(job.UID)
}

func (c *Controller) podHandler() cache.ResourceEventHandler {
	return loop.Handler(func(was, is *corev1.Pod) {
		switch {
		case is == nil:
			c.podGone(was)
		case was == nil || was.ResourceVersion != is.ResourceVersion:
			c.podCached(was, is)
		}
	})
}

func (c *Controller) podCached(old, pod *corev1.Pod) {
	c.metrics.finalizerChanged(old, pod)
	c.observeFailedPod(pod)
	c.results.NoteEnd(pod)
	if old != nil {
		c.enqueueFormerOwner(old, pod)
	}
	job, key, claimed := c.jobFor(pod)
	if !claimed {
		c.podCache.end(pod)
		c.checkOrphan(pod)
		return
	}
	shown := c.job(key)
	if known := shown != nil && shown.UID == job; known && !c.options.manages(shown) {
		return
	} else if known && core.Finished(shown) {
		c.checkOrphan(pod)
		return
	} else if !known {
		// The Job may be gone, or just not be shown yet.
		c.checkOrphan(pod)
	}
	if c.podCache.observePod(job, pod) {
		if podstatus.IsTerminated(pod) {
			c.stateStore.podFreed(job)
		}
		c.loop.Queue.Add(key)
	}
}

func (c *Controller) checkOrphan(pod *corev1.Pod) {
	if core.HasFinalizer(pod) {
		c.orphans.Add(loop.Key(pod))
	}
}

// enqueueFormerOwner wakes the Job that pod belonged to until now.
func (c *Controller) enqueueFormerOwner(old, pod *corev1.Pod) {
	before, now := jobRef(old), jobRef(pod)
	if before != nil && (now == nil || now.UID != before.UID) {
		c.loop.Queue.Add(types.NamespacedName{Namespace: old.Namespace, Name: before.Name})
	}
}

func (c *Controller) podGone(pod *corev1.Pod) {
	c.metrics.finalizerChanged(pod, nil)
	c.failed.drop(pod.UID)
	c.results.NoteEnd(pod)
	news := c.podCache.end(pod)
	ref := jobRef(pod)
	if ref == nil {
		return
	}
	key := types.NamespacedName{Namespace: pod.Namespace, Name: ref.Name}
	if news {
		c.stateStore.podFreed(ref.UID)
		c.loop.Queue.Add(key)
	}
	if c.job(key) == nil {
		c.podCache.forgetEmpty(ref.UID)
	}
}

// jobFor returns the Job that pod belongs to or that would adopt it.
func (c *Controller) jobFor(pod *corev1.Pod) (types.UID, types.NamespacedName, bool) {
	if ref := jobRef(pod); ref != nil {
		return ref.UID, types.NamespacedName{Namespace: pod.Namespace, Name: ref.Name}, true
	}
	if metav1.GetControllerOfNoCopy(pod) != nil {
		return "", types.NamespacedName{}, false
	}
	return c.selectorIndex.find(pod)
}
