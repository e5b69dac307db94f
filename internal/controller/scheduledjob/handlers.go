package scheduledjob

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/loop"
	jobcore "github.com/stint-dev/stint/internal/job"
)

func (c *Controller) scheduledJobHandler() cache.ResourceEventHandler {
	return loop.Handler(func(was, is *stintv1.ScheduledJob) {
		if is == nil {
			c.users.forget(was)
			c.queue.Add(loop.Key(was)) // what is known of it is to be forgotten
			return
		}
		c.users.note(is)
		if !c.memory.isOwn(is) {
			c.queue.Add(loop.Key(is))
		}
	})
}

func (c *Controller) jobHandler() cache.ResourceEventHandler {
	return loop.Handler(func(was, is *batchv1.Job) {
		if was != nil && (is == nil || owner(was) == nil || owner(is) == nil || owner(was).UID != owner(is).UID) {
			c.jobGone(was)
		}
		if is == nil {
			return
		}
		c.children.showJob(is)
		if was == nil && !c.isAwaited(is) || was != nil && isNews(was, is) {
			c.wakeOwner(is)
		}
	})
}

func (c *Controller) jobGone(job *batchv1.Job) {
	c.children.dropJob(job)
	if ref := owner(job); ref != nil {
		key := types.NamespacedName{Namespace: job.Namespace, Name: ref.Name}
		c.memory.gone(key, job.UID)
		c.queue.Add(key)
	}
}

// isNews tells whether a change of a Job matters to its run.
func isNews(was, is *batchv1.Job) bool {
	return jobcore.Finished(was) != jobcore.Finished(is) || (was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil) ||
		!equality.Semantic.DeepEqual(was.OwnerReferences, is.OwnerReferences) || !equality.Semantic.DeepEqual(was.Labels, is.Labels)
}

// isAwaited tells that a Job is shown as it was made here, which is no news.
func (c *Controller) isAwaited(job *batchv1.Job) bool {
	ref := owner(job)
	return ref != nil && !jobcore.Finished(job) && c.memory.expects(types.NamespacedName{Namespace: job.Namespace, Name: ref.Name}, job.Name)
}

func (c *Controller) wakeOwner(job *batchv1.Job) {
	if ref := owner(job); ref != nil {
		c.queue.Add(types.NamespacedName{Namespace: job.Namespace, Name: ref.Name})
	}
}

// owner returns the reference of a Job to the ScheduledJob that controls it, if one does.
func owner(job *batchv1.Job) *metav1.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(job)
	if ref == nil || ref.Kind != "ScheduledJob" || ref.APIVersion != stintv1.SchemeGroupVersion.String() {
		return nil
	}
	return ref
}

func (c *Controller) podHandler() cache.ResourceEventHandler {
	return loop.Handler(func(was, is *corev1.Pod) {
		if is == nil {
			c.children.dropPod(was)
			return
		}
		// The end of a Job may be known before those of its pods.
		if job := c.children.showPod(is); job != nil && over(is) && jobcore.Finished(job) {
			c.wakeOwner(job)
		}
	})
}

func (c *Controller) templateHandler() cache.ResourceEventHandler {
	return loop.Handler(func(_, is *corev1.PodTemplate) {
		if is != nil {
			for _, key := range c.users.of(loop.Key(is)) {
				c.queue.Add(key)
			}
		}
	})
}

func over(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
