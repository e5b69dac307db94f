package scheduledjob

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// handler calls see with two versions of an object, the first nil where it is new, the second where it is gone.
func handler[T metav1.Object](see func(was, is *T)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			is := obj.(T)
			see(nil, &is)
		},
		UpdateFunc: func(old, obj any) {
			was, is := old.(T), obj.(T)
			if was.GetUID() != is.GetUID() {
				see(&was, nil)
				see(nil, &is)
				return
			}
			see(&was, &is)
		},
		DeleteFunc: func(obj any) {
			if gone, missed := obj.(cache.DeletedFinalStateUnknown); missed {
				obj = gone.Obj
			}
			if was, ok := obj.(T); ok {
				see(&was, nil)
			}
		},
	}
}

func (c *Controller) scheduledJobHandler() cache.ResourceEventHandler {
	return handler(func(was, is **stintv1.ScheduledJob) {
		if is == nil {
			c.users.forget(*was)
			c.queue.Add(keyOf(*was)) // what is known of it is to be forgotten
			return
		}
		c.users.note(*is)
		if !c.memory.isOwn(*is) {
			c.queue.Add(keyOf(*is))
		}
	})
}

func (c *Controller) jobHandler() cache.ResourceEventHandler {
	return handler(func(was, is **batchv1.Job) {
		if was != nil && (is == nil || owner(*was) == nil || owner(*is) == nil || owner(*was).UID != owner(*is).UID) {
			c.jobGone(*was)
		}
		if is == nil {
			return
		}
		c.children.showJob(*is)
		if was == nil && !c.isAwaited(*is) || was != nil && isNews(*was, *is) {
			c.wakeOwner(*is)
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
	return finished(was) != finished(is) || (was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil) ||
		!equality.Semantic.DeepEqual(was.OwnerReferences, is.OwnerReferences) || !equality.Semantic.DeepEqual(was.Labels, is.Labels)
}

// isAwaited tells that a Job is shown as it was made here, which is no news.
func (c *Controller) isAwaited(job *batchv1.Job) bool {
	ref := owner(job)
	return ref != nil && !finished(job) && c.memory.expects(types.NamespacedName{Namespace: job.Namespace, Name: ref.Name}, job.Name)
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
	return handler(func(was, is **corev1.Pod) {
		if is == nil {
			c.children.dropPod(*was)
			return
		}
		// The end of a Job may be known before those of its pods.
		if job := c.children.showPod(*is); job != nil && over(*is) && finished(job) {
			c.wakeOwner(job)
		}
	})
}

func (c *Controller) templateHandler() cache.ResourceEventHandler {
	return handler(func(_, is **corev1.PodTemplate) {
		if is != nil {
			for _, key := range c.users.of(keyOf(*is)) {
				c.queue.Add(key)
			}
		}
	})
}

func finished(job *batchv1.Job) bool {
	for i := range job.Status.Conditions {
		if terminal(&job.Status.Conditions[i]) {
			return true
		}
	}
	return false
}

func terminal(c *batchv1.JobCondition) bool {
	return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed)
}

func over(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
