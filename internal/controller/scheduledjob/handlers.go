package scheduledjob

import (
	"cmp"

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
			c.jobs.Forget(was.UID)
			c.loop.Queue.Add(loop.Key(was)) // The sync drops the state of the deleted ScheduledJob.
			return
		}
		c.users.add(is)
		if !c.scheduledJobs.IsOwn(is) {
			c.loop.Queue.Add(loop.Key(is))
		}
	})
}

func (c *Controller) jobHandler() cache.ResourceEventHandler {
	return loop.Handler(func(was, is *batchv1.Job) {
		if was != nil && (is == nil || controller(was) != controller(is)) {
			c.jobs.ObserveDeletion(controller(was), was)
			c.enqueueOwner(was)
		}
		if is == nil || controller(is) == "" {
			return
		}
		_, changed := c.jobs.ObserveCached(controller(is), is)
		if was != nil {
			changed = isRelevantChange(was, is)
		}
		if changed || jobcore.Finished(is) && was == nil {
			c.enqueueOwner(is)
		}
	})
}

// isRelevantChange reports whether a change of a Job matters to its run.
func isRelevantChange(was, is *batchv1.Job) bool {
	return jobcore.Finished(was) != jobcore.Finished(is) || (was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil) ||
		!equality.Semantic.DeepEqual(was.OwnerReferences, is.OwnerReferences) || !equality.Semantic.DeepEqual(was.Labels, is.Labels)
}

func (c *Controller) enqueueOwner(job *batchv1.Job) {
	if ref := owner(job); ref != nil {
		c.loop.Queue.Add(types.NamespacedName{Namespace: job.Namespace, Name: ref.Name})
	}
}

// controller returns the UID of the ScheduledJob that controls a Job, or nothing.
func controller(job *batchv1.Job) types.UID {
	if ref := owner(job); ref != nil {
		return ref.UID
	}
	return ""
}

// owner returns the reference of a Job to the ScheduledJob that controls it, if one does.
func owner(job *batchv1.Job) *metav1.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(job)
	if ref == nil || ref.Kind != "ScheduledJob" || ref.APIVersion != stintv1.SchemeGroupVersion.String() {
		return nil
	}
	return ref
}

// podHandler keeps the pods of runs. It enqueues nothing: exit codes are read when the Job is finished.
func (c *Controller) podHandler() cache.ResourceEventHandler {
	return loop.Handler(func(was, is *corev1.Pod) {
		pod := cmp.Or(is, was)
		job := metav1.GetControllerOfNoCopy(pod)
		switch _, ofRun := pod.Labels[stintv1.LabelJobTag]; {
		case job == nil || !ofRun:
		case is == nil:
			c.pods.ObserveDeletion(job.UID, was)
		default:
			c.pods.ObserveCached(job.UID, is)
		}
	})
}

func (c *Controller) templateHandler() cache.ResourceEventHandler {
	return loop.Handler(func(_, is *corev1.PodTemplate) {
		if is != nil {
			for _, key := range c.users.of(loop.Key(is)) {
				c.loop.Queue.Add(key)
			}
		}
	})
}
