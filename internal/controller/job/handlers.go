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
		// The server may accept the pods of a new template.
		c.jobs.UpdateKnown(loop.Key(is), is.UID, func(s *jobState) { s.createBackoff = createBackoff{} })
	}
	if c.options.manages(is) && was.Annotations[core.FailedPodsLimit] != is.Annotations[core.FailedPodsLimit] {
		c.observeFailedPodsLimit(is)
	}
	c.observeFirstFailure(was, is)
	if !c.jobs.IsOwn(is) || core.Finished(is) {
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
	c.observeFailedPodsLimit(job)
	c.loop.Queue.Add(loop.Key(job))
}

// jobGone drops what is known of a deleted Job. Its pods are deleted by others, which needs their finalizers removed.
func (c *Controller) jobGone(job *batchv1.Job) {
	c.gone.Add(job.UID, nil)
	c.selectorIndex.remove(job)
	// Drop the pods first: a sync in progress checks IsOpen and stops.
	for _, p := range c.podCache.forget(job.UID) {
		c.orphans.Add(loop.Key(p))
	}
	c.jobs.Forget(job)
	c.results.Forget(job.UID)
	c.left.forget(job.UID)
}

func (c *Controller) podHandler() cache.ResourceEventHandler {
	return loop.Handler(func(was, is *corev1.Pod) {
		c.left.observe(was, is)
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
	c.results.NoteEnd(pod)
	if old != nil {
		c.enqueueFormerOwner(old, pod)
	}
	job, key, claimed := c.jobFor(pod)
	if !claimed {
		c.podCache.drop(pod)
		c.checkOrphan(pod)
		return
	}
	shown := c.job(key)
	if known := shown != nil && shown.UID == job; known && !c.options.manages(shown) {
		return
	} else if known && core.Finished(shown) {
		c.finishedJobsPodCached(job, key, pod)
		return
	} else if !known {
		// The Job may be deleted, or not be cached yet.
		c.checkOrphan(pod)
	}
	if c.podCache.observePod(job, pod) {
		if podstatus.IsTerminated(pod) {
			c.podFreed(key, job)
		}
		c.loop.Queue.Add(key)
	}
	if c.podCache.isLimited(job, pod) {
		c.loop.Queue.Add(key) // It may exceed the limit, though the controller itself wrote this version.
	}
}

// finishedJobsPodCached observes a pod of a finished Job, which has nothing left to do but to delete failed pods
// beyond its limit.
func (c *Controller) finishedJobsPodCached(job types.UID, key types.NamespacedName, pod *corev1.Pod) {
	c.checkOrphan(pod)
	if !c.podCache.isLimited(job, pod) {
		c.podCache.drop(pod)
		return
	}
	c.podCache.observePod(job, pod)
	c.loop.Queue.Add(key)
}

func (c *Controller) checkOrphan(pod *corev1.Pod) {
	if core.HasFinalizer(pod) {
		c.orphans.Add(loop.Key(pod))
	}
}

// enqueueFormerOwner requeues the Job that controlled the pod until now.
func (c *Controller) enqueueFormerOwner(old, pod *corev1.Pod) {
	before, now := jobRef(old), jobRef(pod)
	if before != nil && (now == nil || now.UID != before.UID) {
		c.loop.Queue.Add(types.NamespacedName{Namespace: old.Namespace, Name: before.Name})
	}
}

func (c *Controller) podGone(pod *corev1.Pod) {
	c.metrics.finalizerChanged(pod, nil)
	c.results.NoteEnd(pod)
	changed := c.podCache.drop(pod)
	ref := jobRef(pod)
	if ref == nil {
		return
	}
	key := types.NamespacedName{Namespace: pod.Namespace, Name: ref.Name}
	if changed {
		c.podFreed(key, ref.UID)
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
