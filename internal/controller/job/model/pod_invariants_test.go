package model_test

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// podWrite is a change that a controller makes to a pod; is is nil if the pod is removed by it.
type podWrite struct {
	*ledger
	by      *process
	was, is *corev1.Pod
}

var podInvariants = []invariant[podWrite]{
	{"pods of other owners are left alone", podWrite.isOurs},
	{"a finalizer is removed if its pod is accounted for, not needed any more, or has no owner", podWrite.removesFinalizerOfCounted},
	{"a pod is deleted for a reason", podWrite.endsForAReason},
	{"a pod that has failed is removed if newer ones make up the limit, and it is counted", podWrite.isSurplusFailure},
	{"a pod that has succeeded is removed if others make up the limit, and it is counted", podWrite.isSurplusSuccess},
	{"a pod is failed if it has not started in time", podWrite.isPendingTooLong},
}

func (x podWrite) isOurs() {
	if known := x.by.knowledge.oldest(x.was.UID); x.isOfAnotherController(x.was) && known != nil && x.isOfAnotherController(known) {
		x.Fail("controller %d changes pod %s, which is not its own", x.by.Number, x.was.Name)
	}
}

// job returns the Job that controls the pod, or nil if it does not exist.
func (x podWrite) job() *batchv1.Job {
	ref := metav1.GetControllerOfNoCopy(x.was)
	if ref == nil {
		return nil
	}
	if j := x.world.job(ref.Name); j != nil && j.UID == ref.UID {
		return j
	}
	return nil
}

func (x podWrite) removesFinalizerOfCounted() {
	if !hasFinalizer(x.was) || (x.is != nil && hasFinalizer(x.is)) {
		return
	}
	j := x.job()
	f := x.fates[x.was.UID]
	f.unowned = j == nil || x.isUnselected(j) || x.isBeyondCompletions(j)
	if j == nil || j.DeletionTimestamp != nil || finished(j) || f.unowned || x.accounted(j) {
		return
	}
	if !x.mayDiscard(j) {
		x.Fail("pod %s loses its finalizer uncounted", x.was.Name)
	}
	f.discarded, f.wasted = true, ended(x.was) || x.was.DeletionTimestamp != nil
}

// isUnselected reports whether the selector does not match the pod, or a version of it that the process may have used.
func (x podWrite) isUnselected(j *batchv1.Job) bool {
	return slices.ContainsFunc(append(x.by.knowledge.versions(x.was.UID), x.was), func(p *corev1.Pod) bool { return !selects(j, p) })
}

// accounted reports whether the stored status lists or counts the pod, or never will.
func (x podWrite) accounted(j *batchv1.Job) bool {
	// A pod that was listed in an older version may have lost its owner and been adopted again.
	if slices.ContainsFunc(x.accounts[j.UID].versions, func(j *batchv1.Job) bool {
		listed := uncounted(j)
		return slices.Contains(listed.Succeeded, x.was.UID) || slices.Contains(listed.Failed, x.was.UID)
	}) {
		return true
	}
	if known := x.by.knowledge.oldest(x.was.UID); isDecided(j) && known != nil && !ended(known) {
		// The Job finishes without this pod's success or failure.
		return true
	}
	if x.was.Status.Phase == corev1.PodFailed && judged(j, x.was) == batchv1.PodFailurePolicyActionIgnore {
		return true
	}
	if !indexed(j) {
		return false
	}
	i := indexOf(x.was)
	return x.fates[x.was.UID].succeeded &&
		(indexSet(j.Status.CompletedIndexes)[i] || indexSet(ptr.Deref(j.Status.FailedIndexes, ""))[i])
}

// isBeyondCompletions reports whether a version of the Job that the process may have used does not have the pod's index.
func (x podWrite) isBeyondCompletions(j *batchv1.Job) bool {
	return indexed(j) && slices.ContainsFunc(x.accounts[j.UID].since(x.by.knowledge.job), func(j *batchv1.Job) bool {
		return indexOf(x.was) < 0 || indexOf(x.was) >= int(*j.Spec.Completions)
	})
}

func (x podWrite) endsForAReason() {
	if x.was.DeletionTimestamp != nil || (x.is != nil && x.is.DeletionTimestamp == nil) || x.fates[x.was.UID].discarded || x.removesFailure() || x.removesSuccess() {
		return
	}
	if j := x.job(); j != nil && !x.mayDiscard(j) {
		x.Fail("pod %s is deleted for no reason", x.was.Name)
	}
}

// mayDiscard reports whether the process may know the pod as active and a version of the Job by which it must not be.
func (x podWrite) mayDiscard(j *batchv1.Job) bool {
	known := x.by.knowledge.oldest(x.was.UID)
	if known == nil || !active(known) {
		return false
	}
	return slices.ContainsFunc(x.accounts[j.UID].since(x.by.knowledge.job), func(j *batchv1.Job) bool {
		return suspended(j) || isDecided(j) || x.surplus(j) || x.mustFail(j) || x.justified(j, batchv1.JobReasonSuccessPolicy)
	})
}

func (x podWrite) surplus(j *batchv1.Job) bool {
	others, twins, succeeded := 0, 0, 0
	for uid, f := range x.fates {
		if f.owner == j.UID && f.last.Status.Phase == corev1.PodSucceeded {
			succeeded++
		}
		p := x.by.knowledge.oldest(uid)
		if p == nil || (f.owner != j.UID && !controlledBy(p, j)) {
			continue
		}
		// The process has discarded this pod, unless the write failed and the process knows that.
		going := f.discarded && f.finalizerRemovedBy == x.by && hasFinalizer(p)
		if active(p) && !going && uid != x.was.UID {
			others++
			if indexOf(p) == indexOf(x.was) {
				twins++
			}
		}
	}
	if others+1 > int(ptr.Deref(j.Spec.Parallelism, 1)) {
		return true
	}
	if indexed(j) {
		i := indexOf(x.was)
		return i < 0 || i >= int(*j.Spec.Completions) || twins > 0 || others+1 > int(*j.Spec.Completions)-len(x.succeededIndexes(j))
	}
	return j.Spec.Completions != nil && others+1 > int(*j.Spec.Completions)-max(succeeded, int(j.Status.Succeeded))
}
