package cronjob

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/cronjob"
)

func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// owner returns the reference of a Job to the CronJob that controls it, if one does.
func owner(job *batchv1.Job) *metav1.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(job)
	if ref == nil || ref.Kind != core.Kind.Kind || ref.APIVersion != core.Kind.GroupVersion().String() {
		return nil
	}
	return ref
}

// last unwraps what a handler gets for an object whose deletion was missed.
func last[T any](obj any) (T, bool) {
	if gone, missed := obj.(cache.DeletedFinalStateUnknown); missed {
		obj = gone.Obj
	}
	o, ok := obj.(T)
	return o, ok
}

func (c *Controller) cronJobHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { c.queue.Add(keyOf(obj.(*batchv1.CronJob))) },
		UpdateFunc: func(was, is any) {
			old, cj := was.(*batchv1.CronJob), is.(*batchv1.CronJob)
			if old.UID == cj.UID && scheduleChanged(old, cj) {
				c.memory.scheduleChanged(cj)
			}
			if !c.memory.isOwn(cj) {
				c.queue.Add(keyOf(cj))
			}
		},
		DeleteFunc: func(obj any) {
			if cj, ok := last[*batchv1.CronJob](obj); ok {
				c.queue.Add(keyOf(cj)) // what is known of it is to be forgotten
			}
		},
	}
}

// scheduleChanged leaves out what is changed during a suspension: what was missed then counts by the schedule that is
// resumed, as it would after a restart of the controller.
func scheduleChanged(was, is *batchv1.CronJob) bool {
	if ptr.Deref(is.Spec.Suspend, false) {
		return false
	}
	return was.Spec.Schedule != is.Spec.Schedule || !ptr.Equal(was.Spec.TimeZone, is.Spec.TimeZone)
}

func (c *Controller) jobHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { c.wakeOwner(obj.(*batchv1.Job)) },
		UpdateFunc: func(was, is any) {
			if old, job := was.(*batchv1.Job), is.(*batchv1.Job); isNews(old, job) {
				c.wakeOwner(old)
				c.wakeOwner(job)
			}
		},
		DeleteFunc: func(obj any) {
			if job, ok := last[*batchv1.Job](obj); ok {
				c.wakeOwner(job)
			}
		},
	}
}

// isNews leaves out the changes that come with every pod of a Job.
func isNews(was, is *batchv1.Job) bool {
	return was.UID != is.UID || (was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil) ||
		was.Generation != is.Generation || len(was.Status.Conditions) != len(is.Status.Conditions) ||
		!equality.Semantic.DeepEqual(was.Status.Conditions, is.Status.Conditions) ||
		!equality.Semantic.DeepEqual(was.OwnerReferences, is.OwnerReferences) ||
		!equality.Semantic.DeepEqual(was.Annotations, is.Annotations)
}

func (c *Controller) wakeOwner(job *batchv1.Job) {
	if ref := owner(job); ref != nil {
		c.queue.Add(types.NamespacedName{Namespace: job.Namespace, Name: ref.Name})
	}
}
