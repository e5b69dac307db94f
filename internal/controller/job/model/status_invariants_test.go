package model_test

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// statusWrite is a status that a controller stores.
type statusWrite struct {
	*ledger
	account *account
	by      *process
	was, is *batchv1.Job
}

type invariant[W any] struct {
	// words is what must hold for each write, as a sentence.
	words string
	holds func(W)
}

var statusInvariants = []invariant[statusWrite]{
	{"Jobs of other controllers are left alone", statusWrite.isOurs},
	{"a finished Job does not change", statusWrite.isNotOver},
	{"a pod is listed once, after it terminated or was deleted if that counts, and never if it was discarded", statusWrite.listsEnded},
	{"a pod leaves the list when its finalizer is gone, and the counter takes exactly the pods that leave", statusWrite.countsListed},
	{"an index is completed by a pod that succeeded, and stays completed while the Job has it", statusWrite.completesIndexes},
	{"an index fails by more failures than it may have or by a rule of the policy, and stays failed", statusWrite.failsIndexes},
	{"how the Job finishes is decided once", statusWrite.decidesOnce},
	{"how the Job finishes has a cause", statusWrite.hasCause},
	{"a Job does not succeed if the controller knows a failure by which it fails", statusWrite.seesFailures},
	{"a Job finishes after all its known pods have terminated", statusWrite.endsLast},
	{"a dependency has finished when the status says so, and the status does not change back", statusWrite.followsDependencies},
	{"a Job starts when its dependencies have finished", statusWrite.startsWhenDue},
	{"the start is neither before the Job nor after now", statusWrite.startsInTime},
}

func (x statusWrite) isOurs() {
	if !managed(x.is) {
		x.Fail("a Job of %s is changed", *x.is.Spec.ManagedBy)
	}
}

func (x statusWrite) isNotOver() {
	if finished(x.was) {
		x.Fail("the status changes after the end")
	}
}

func uncounted(j *batchv1.Job) batchv1.UncountedTerminatedPods {
	return ptr.Deref(j.Status.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{})
}

func (x statusWrite) listsEnded() {
	was, is := uncounted(x.was), uncounted(x.is)
	if n := len(is.Succeeded) + len(is.Failed); n > listLimit {
		x.Fail("%d pods are listed, %d may be", n, listLimit)
	}
	for _, uid := range is.Succeeded {
		if slices.Contains(was.Succeeded, uid) {
			continue
		}
		f := x.list(uid, x.account.succeeded)
		if f.last.Status.Phase != corev1.PodSucceeded {
			x.Fail("pod %s is listed as succeeded and is %s", f.last.Name, f.last.Status.Phase)
		}
	}
	for _, uid := range is.Failed {
		if slices.Contains(was.Failed, uid) {
			continue
		}
		f := x.list(uid, x.account.failed)
		if holds(x.is, batchv1.JobFailureTarget) && x.mayLive(uid) {
			// The Job has failed, so all its active pods count as failed.
			continue
		}
		if !x.everFailed(x.is, f.last) {
			x.Fail("pod %s is listed as failed and is %s", f.last.Name, describePod(f.last))
		}
		if p := x.by.knowledge.oldest(uid); p != nil && !isDecided(x.is) && failedPod(x.is, p) && judged(x.is, p) == batchv1.PodFailurePolicyActionFailJob {
			x.Fail("pod %s is listed and the Job must fail for it", p.Name)
		}
		if f.last.Status.Phase == corev1.PodFailed && judged(x.is, f.last) == batchv1.PodFailurePolicyActionIgnore {
			x.Fail("pod %s is listed and its failure must be ignored", f.last.Name)
		}
	}
}

// mayLive reports whether the process may know the pod as one that has not terminated.
func (x statusWrite) mayLive(uid types.UID) bool {
	p := x.by.knowledge.oldest(uid)
	return p != nil && !ended(p)
}

// mayOwn reports whether the process may know the pod as one of the Job's.
func (x statusWrite) mayOwn(uid types.UID) bool {
	p := x.by.knowledge.oldest(uid)
	return p != nil && controlledBy(p, x.is)
}

func (x statusWrite) list(uid types.UID, list map[types.UID]bool) *fate {
	f := x.fates[uid]
	switch {
	case f == nil:
		x.Fail("pod %s is listed and never existed", uid)
	case x.account.succeeded[uid] || x.account.failed[uid]:
		x.Fail("pod %s is listed for the second time", f.last.Name)
	case f.discarded && !f.wasted && !x.mayNotKnow(f):
		x.Fail("pod %s is listed and was discarded", f.last.Name)
	case f.owner != x.is.UID && !x.mayOwn(uid):
		x.Fail("pod %s is listed and belongs to %q", f.last.Name, f.owner)
	}
	list[uid] = true
	return f
}

// mayNotKnow reports whether the process cannot know that a pod was discarded: either it discarded the pod itself and the
// answer was lost, or another process did, and this one lists all active pods because the Job has failed.
func (x statusWrite) mayNotKnow(f *fate) bool {
	if f.finalizerRemovedBy == x.by {
		return !f.removalKnown
	}
	return holds(x.is, batchv1.JobFailureTarget) && x.mayLive(f.last.UID)
}

func (x statusWrite) countsListed() {
	was, is := uncounted(x.was), uncounted(x.is)
	succeeded := x.leave(was.Succeeded, is.Succeeded)
	if n := x.is.Status.Succeeded - x.was.Status.Succeeded; !indexed(x.is) && n != succeeded {
		x.Fail("%d pods leave the list of the succeeded and %d are counted", succeeded, n)
	}
	failed := x.leave(was.Failed, is.Failed)
	if n := x.is.Status.Failed - x.was.Status.Failed; n != failed {
		x.Fail("%d pods leave the list of the failed and %d are counted", failed, n)
	}
}

func (x statusWrite) leave(was, is []types.UID) (n int32) {
	for _, uid := range was {
		if slices.Contains(is, uid) {
			continue
		}
		if f := x.fates[uid]; !f.gone && hasFinalizer(f.last) && controlledBy(f.last, x.is) {
			x.Fail("pod %s is counted with its finalizer on", f.last.Name)
		}
		if x.account.counted[uid] {
			x.Fail("pod %s is counted for the second time", uid)
		}
		x.account.counted[uid] = true
		n++
	}
	return n
}

func (x statusWrite) completesIndexes() {
	if !indexed(x.is) {
		return
	}
	was, is := indexSet(x.was.Status.CompletedIndexes), indexSet(x.is.Status.CompletedIndexes)
	if len(is) != int(x.is.Status.Succeeded) {
		x.Fail("%d indexes are completed and %d pods have succeeded", len(is), x.is.Status.Succeeded)
	}
	for i := range was {
		if !is[i] && i < int(*x.is.Spec.Completions) {
			x.Fail("index %d is no longer completed", i)
		}
	}
	truth := x.succeededIndexes(x.is)
	for i := range is {
		if !was[i] && !truth[i] {
			x.Fail("index %d is completed and no pod of it succeeded", i)
		}
	}
}

func (x statusWrite) failsIndexes() {
	if x.is.Spec.BackoffLimitPerIndex == nil {
		return
	}
	was, is := indexSet(ptr.Deref(x.was.Status.FailedIndexes, "")), indexSet(ptr.Deref(x.is.Status.FailedIndexes, ""))
	for i := range was {
		if !is[i] && i < int(*x.is.Spec.Completions) {
			x.Fail("index %d is no longer failed", i)
		}
	}
	for i := range is {
		if !was[i] && !x.mayHaveFailed(x.is, i) {
			x.Fail("index %d is failed without a cause", i)
		}
	}
}

func (x statusWrite) decidesOnce() {
	for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if holds(x.was, kind) && reason(x.was, kind) != reason(x.is, kind) {
			x.Fail("condition %s is removed or has another reason", kind)
		}
	}
	if holds(x.is, batchv1.JobSuccessCriteriaMet) && holds(x.is, batchv1.JobFailureTarget) {
		x.Fail("the Job has both SuccessCriteriaMet and FailureTarget")
	}
	if finished(x.is) && !isDecided(x.was) {
		x.Fail("the Job finishes without SuccessCriteriaMet or FailureTarget before")
	}
	if holds(x.is, batchv1.JobComplete) != (finished(x.is) && holds(x.is, batchv1.JobSuccessCriteriaMet)) {
		x.Fail("the Job does not finish as SuccessCriteriaMet or FailureTarget said")
	}
}

func (x statusWrite) hasCause() {
	if isDecided(x.was) || !isDecided(x.is) {
		return
	}
	why := reason(x.is, batchv1.JobSuccessCriteriaMet)
	if why == "" {
		why = reason(x.is, batchv1.JobFailureTarget)
	}
	if !slices.ContainsFunc(x.account.since(x.was), func(j *batchv1.Job) bool { return x.justified(j, why) }) {
		x.Fail("the Job finishes for a reason that does not hold: %s", why)
	}
}

func (x statusWrite) seesFailures() {
	if isDecided(x.was) || !holds(x.is, batchv1.JobSuccessCriteriaMet) {
		return
	}
	failures := 0
	for _, p := range x.by.knowledge.pods {
		f := x.fates[p.UID]
		if !x.belongs(p, x.is) || f.discarded || f.unowned || !failedPod(x.is, p) || !failedPod(x.is, f.last) {
			continue
		}
		action := judged(x.is, p)
		if action == batchv1.PodFailurePolicyActionFailJob && f.finalizerRemovedBy == nil {
			x.Fail("the Job succeeds and must fail for %s by its pod failure policy", p.Name)
		}
		if i := indexOf(p); action != batchv1.PodFailurePolicyActionIgnore && (!indexed(x.is) || i >= 0 && i < int(*x.is.Spec.Completions)) {
			failures++
		}
	}
	if limit := ptr.Deref(x.is.Spec.BackoffLimit, 6); failures > int(limit) {
		x.Fail("the Job succeeds with %d known failures and a backoffLimit of %d", failures, limit)
	}
}

func (x statusWrite) endsLast() {
	if !finished(x.is) {
		return
	}
	for _, p := range x.by.knowledge.pods {
		f := x.fates[p.UID]
		if f.gone || !x.belongs(p, x.is) {
			continue
		}
		if !ended(f.last) {
			x.Fail("the Job ends before pod %s", f.last.Name)
		}
		if hasFinalizer(f.last) {
			x.Fail("the Job ends while pod %s has its finalizer", f.last.Name)
		}
	}
}

func (x statusWrite) startsInTime() {
	start := x.is.Status.StartTime
	if start != nil && (start.Time.Before(x.is.CreationTimestamp.Time) || start.After(time.Now())) {
		x.Fail("the Job starts at %s, was made at %s", start, x.is.CreationTimestamp)
	}
}
