package cronjob

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/cronjob"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// owner returns the reference of a Job to the CronJob that controls it, if one does.
func owner(job *batchv1.Job) *metav1.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(job)
	if ref == nil || ref.Kind != core.Kind.Kind || ref.APIVersion != core.Kind.GroupVersion().String() {
		return nil
	}
	return ref
}

func (c *Controller) cronJobHandler() cache.ResourceEventHandler {
	return loop.Handler(func(was, is *batchv1.CronJob) {
		if is == nil {
			c.jobs.Forget(was.UID)
			c.loop.Queue.Add(loop.Key(was)) // The sync drops the state of the deleted CronJob.
			return
		}
		// A sync that saw a changed schedule before this handler did has started nothing by it: see scheduleSince.
		var changed bool
		c.cronJobs.Update(is, func(s *state) { changed = s.observeSchedule(was, is) })
		if changed || !c.cronJobs.IsOwn(is) {
			c.loop.Queue.Add(loop.Key(is))
		}
	})
}

func (c *Controller) jobHandler() cache.ResourceEventHandler {
	return loop.Handler(func(was, is *batchv1.Job) {
		if was != nil && (is == nil || parent(was) != parent(is)) {
			c.jobs.ObserveDeletion(parent(was), was)
		}
		if is != nil && parent(is) != "" {
			c.jobs.ObserveCached(parent(is), is)
		}
		if was != nil && is != nil && !isRelevantChange(was, is) {
			return
		}
		for _, job := range []*batchv1.Job{was, is} {
			if job != nil {
				c.enqueueOwner(job)
			}
		}
	})
}

// parent returns the UID of the CronJob that controls a Job, orphanedHeldRuns for an orphaned held run, or nothing.
func parent(job *batchv1.Job) types.UID {
	switch ref := owner(job); {
	case ref != nil:
		return ref.UID
	case isOrphanedHeldRun(job):
		return types.UID(orphanedHeldRuns(job.Namespace).String())
	}
	return ""
}

// isRelevantChange reports whether a change of a Job matters to its CronJob. The counts of its pods do not.
func isRelevantChange(was, is *batchv1.Job) bool {
	return (was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil) ||
		was.Generation != is.Generation || len(was.Status.Conditions) != len(is.Status.Conditions) ||
		!equality.Semantic.DeepEqual(was.Status.Conditions, is.Status.Conditions) ||
		!equality.Semantic.DeepEqual(was.OwnerReferences, is.OwnerReferences) ||
		!equality.Semantic.DeepEqual(was.Annotations, is.Annotations)
}

func (c *Controller) enqueueOwner(job *batchv1.Job) {
	switch ref := owner(job); {
	case ref != nil:
		c.loop.Queue.Add(types.NamespacedName{Namespace: job.Namespace, Name: ref.Name})
	case isOrphanedHeldRun(job):
		c.loop.Queue.Add(orphanedHeldRuns(job.Namespace))
	}
}

// isOrphanedHeldRun reports whether job is a held run that no controller owns, as its CronJob was deleted without it.
func isOrphanedHeldRun(job *batchv1.Job) bool {
	return jobcore.IsHeld(job) && metav1.GetControllerOfNoCopy(job) == nil
}

// orphanedHeldRuns is the key, in the queue and in Controller.jobs, of all orphaned held runs of a namespace. No CronJob has
// that key, as its name is empty.
func orphanedHeldRuns(namespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace}
}
