package model_test

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// creation is a pod that a process is about to create, with what the process knew when it decided to.
type creation struct {
	*ledger
	account *account
	// made is what the process sent, at is when.
	made *corev1.Pod
	at   time.Time
	by   *process
}

var creationInvariants = []invariant[creation]{
	{"no pod is created for a Job that is suspended, being deleted, decided, or another controller's", creation.isWanted},
	{"a new pod has finalizer, owner and labels", creation.isComplete},
	{"no more pods are active than spec.parallelism, and none is replaced before it ended if the policy says so", creation.fitsParallelism},
	{"no more pods are active than successes are missing, and a work queue gets none after the first success", creation.fitsCompletions},
	{"an index gets a pod if it has none and has not ended", creation.fitsIndex},
	{"the annotation of a new pod of an index includes all failures before it", creation.recordsFailures},
	{"a failed pod is replaced after the delay", creation.waits},
	{"no pod is created before the Job's dependencies have finished", creation.isDue},
}

// possible returns the versions of the Job that the decision may be based on.
func (x creation) possible() []*batchv1.Job { return x.account.since(x.by.knowledge.job) }

func (x creation) isWanted() {
	if !slices.ContainsFunc(x.possible(), func(j *batchv1.Job) bool {
		return managed(j) && !suspended(j) && j.DeletionTimestamp == nil && !isDecided(j)
	}) {
		x.Fail("a pod is created for a Job that wants none")
	}
}

func (x creation) isComplete() {
	p := x.made
	if !hasFinalizer(p) || !controlledBy(p, x.account.now()) || !selects(x.account.now(), p) {
		x.Fail("a pod is created without finalizer, owner or labels")
	}
}

// known returns the newest versions of those pods of the Job that the process knows.
func (x creation) known(which func(*corev1.Pod) bool) (list []*corev1.Pod) {
	for _, p := range x.by.knowledge.pods {
		f := x.fates[p.UID]
		if x.belongs(p, x.account.now()) && which(f.last) {
			list = append(list, f.last)
		}
	}
	return list
}

func (x creation) alive(p *corev1.Pod) bool { return !x.fates[p.UID].gone && active(p) }

func (x creation) fitsParallelism() {
	blocks := x.alive
	if !judgesTerminating(x.account.now()) {
		blocks = func(p *corev1.Pod) bool { return !x.fates[p.UID].gone && !ended(p) }
	}
	limit := 0
	for _, j := range x.possible() {
		limit = max(limit, int(ptr.Deref(j.Spec.Parallelism, 1)))
	}
	if n := len(x.known(blocks)) + 1; n > limit {
		x.Fail("%d pods with a parallelism of %d", n, limit)
	}
}

func (x creation) fitsCompletions() {
	j := x.account.now()
	done := 0
	if k := x.by.knowledge.job; k != nil && k.UID == j.UID {
		done = int(k.Status.Succeeded) + len(uncounted(k).Succeeded)
	}
	if j.Spec.Completions == nil {
		if done > 0 {
			x.Fail("a work queue gets a pod after its first success")
		}
		return
	}
	if indexed(j) {
		return
	}
	if n := len(x.known(x.alive)) + 1 + done; n > int(*j.Spec.Completions) {
		x.Fail("%d pods for %d completions", n, *j.Spec.Completions)
	}
}

func (x creation) fitsIndex() {
	if !indexed(x.account.now()) {
		return
	}
	i, most := indexOf(x.made), 0
	for _, j := range x.possible() {
		most = max(most, int(*j.Spec.Completions))
	}
	if i < 0 || i >= most {
		x.Fail("index %d of %d gets a pod", i, most)
	}
	if twins := x.known(func(p *corev1.Pod) bool { return x.alive(p) && indexOf(p) == i }); len(twins) > 0 {
		x.Fail("index %d has pod %s and gets another", i, twins[0].Name)
	}
	if k := x.by.knowledge.job; k != nil && k.UID == x.account.now().UID &&
		(indexSet(k.Status.CompletedIndexes)[i] || indexSet(ptr.Deref(k.Status.FailedIndexes, ""))[i]) {
		x.Fail("index %d has ended and gets a pod", i)
	}
}

// failures returns the failed pods that the process knows; with a backoffLimitPerIndex, only those of the new pod's index.
func (x creation) failures() []*corev1.Pod {
	j := x.account.now()
	var list []*corev1.Pod
	for _, p := range x.by.knowledge.pods {
		f := x.fates[p.UID]
		forgotten := f.discarded || f.unowned || x.isCountedElsewhere(p) || x.isCountedByPredecessor(p) || x.by.knowledge.early[p.UID]
		if forgotten || !x.belongs(p, j) || !failedPod(j, p) || judged(j, p) == batchv1.PodFailurePolicyActionIgnore {
			continue
		}
		if i := indexOf(p); indexed(j) && (i < 0 || i >= int(*j.Spec.Completions)) {
			continue
		}
		if j.Spec.BackoffLimitPerIndex == nil || indexOf(p) == indexOf(x.made) {
			list = append(list, p)
		}
	}
	return list
}

// isCountedElsewhere reports whether another process counted or discarded p while it was terminating: this process cannot
// know which.
func (x creation) isCountedElsewhere(p *corev1.Pod) bool {
	f := x.fates[p.UID]
	return (!ended(p) || !hasFinalizer(p)) && p.DeletionTimestamp != nil && f.finalizerRemovedBy != x.by && (f.gone || f.finalizerRemovedBy != nil)
}

// isCountedByPredecessor reports whether another process counted p after it had created a pod whose annotation includes
// the failure, and whether this process does not know that pod.
func (x creation) isCountedByPredecessor(p *corev1.Pod) bool {
	by := x.fates[p.UID].finalizerRemovedBy
	if by == nil || by == x.by {
		return false
	}
	for uid, f := range x.fates {
		if indexOf(f.last) == indexOf(p) && recordedFailures(f.last) > recordedFailures(p) && x.by.knowledge.pods[uid] == nil {
			return true
		}
	}
	return false
}

func (x creation) recordsFailures() {
	if x.account.now().Spec.BackoffLimitPerIndex == nil {
		return
	}
	for _, p := range x.failures() {
		if recordedFailures(x.made) <= recordedFailures(p) && !x.lostWithAnotherPod(p) && !x.hadTwin(p) {
			x.Fail("the annotation of the new pod of index %d does not include the failure of %s", indexOf(p), p.Name)
		}
	}
}

// lostWithAnotherPod reports whether the index of p had another pod that was discarded, released or taken by another
// owner. Its annotation may have been the only one that included the failure of p.
func (x creation) lostWithAnotherPod(p *corev1.Pod) bool {
	for _, f := range x.fates {
		lost := f.discarded || !selects(x.account.now(), f.last) || !controlledBy(f.last, x.account.now())
		if lost && indexOf(f.last) == indexOf(p) && f.last.UID != p.UID {
			return true
		}
	}
	return false
}

// hadTwin reports whether the index of p had another pod, at the same time or later, whose annotation does not include the
// failure of p: a process created it that did not know p. Later pods of the index take the number from that pod.
func (x creation) hadTwin(p *corev1.Pod) bool {
	for _, f := range x.fates {
		if f.last.UID != p.UID && indexOf(f.last) == indexOf(p) && recordedFailures(f.last) <= recordedFailures(p) && f.livedAfter(x.fates[p.UID], x.account.now()) {
			return true
		}
	}
	return false
}

// recordedFailures returns how many failures of its index a pod has in its annotations.
func recordedFailures(p *corev1.Pod) int {
	counted, _ := strconv.Atoi(p.Annotations[batchv1.JobIndexFailureCountAnnotation])
	ignored, _ := strconv.Atoi(p.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation])
	return counted + ignored
}

func (x creation) waits() {
	perIndex := x.account.now().Spec.BackoffLimitPerIndex != nil
	first, most := delays(x.account.now())
	last, delay := time.Time{}, time.Duration(0)
	inSecondOfSuccess := false
	for _, p := range x.failures() {
		switch {
		case perIndex && (x.lostWithAnotherPod(p) || x.hadTwin(p)), !perIndex && !x.followsSuccesses(p):
			continue
		case perIndex:
			// Two pods of an index at a time, after a lost answer, do not include each other's failures.
			delay = min(first, most)
		case x.endOf(p).Equal(x.lastSuccess()):
			inSecondOfSuccess = true
		default:
			delay = min(max(2*delay, first), most)
		}
		if end := x.endOf(p); end.After(last) {
			last = end
		}
	}
	if inSecondOfSuccess {
		// A controller that has found them counts one.
		delay = min(max(2*delay, first), most)
	}
	if delay > 0 && x.at.Before(last.Add(delay)) {
		x.Fail("a pod is created at %s; the last failure was at %s and the delay is %s", x.at.UTC(), last.UTC(), delay)
	}
}

// followsSuccesses reports whether p failed after all successes: in a later second or, if in the same, as a retry that the process
// made when it knew of them.
func (x creation) followsSuccesses(p *corev1.Pod) bool {
	k := x.by.knowledge
	for uid, f := range x.fates {
		if f.last.Status.Phase != corev1.PodSucceeded {
			continue
		}
		switch end := f.last.Status.ContainerStatuses[0].State.Terminated.FinishedAt.Time; {
		case x.endOf(p).Before(end):
			return false
		case x.endOf(p).Equal(end) && (k.sawEnd[uid] == 0 || k.made[p.UID] <= k.sawEnd[uid]):
			return false
		}
	}
	return true
}

func (x creation) lastSuccess() (last time.Time) {
	for _, f := range x.fates {
		if f.last.Status.Phase == corev1.PodSucceeded {
			if end := f.last.Status.ContainerStatuses[0].State.Terminated.FinishedAt.Time; end.After(last) {
				last = end
			}
		}
	}
	return last
}

// endOf returns when a pod terminated, or was deleted if that was earlier: the controller may not see it terminate.
func (l *ledger) endOf(p *corev1.Pod) time.Time {
	if c := pendingTimeoutOf(p); c != nil {
		return c.LastTransitionTime.Time
	}
	end := p.CreationTimestamp.Time
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse {
			end = c.LastTransitionTime.Time
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Terminated != nil {
			end = c.State.Terminated.FinishedAt.Time
		}
	}
	if told := l.fates[p.UID].deletedAt; p.DeletionTimestamp != nil && (!ended(p) || told.Before(end)) {
		return told
	}
	return end
}
