package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/stint-dev/stint/internal/podstatus"
)

// tally is how pods are counted: each exactly once, no matter which client deletes them and when the controller dies.
//
// An ended pod goes through four states. Only two things are stored, the finalizer (on the pod) and the status (on the
// Job), and every single write leads from one of these states to the next:
//
//	            finalizer   in uncounted   in the counter
//	ended          yes           -               -
//	               │ status write n: the pod's UID is listed
//	listed         yes          yes              -
//	               │ the finalizer is removed; the pod may vanish
//	untracked       -           yes              -
//	               │ status write n+1: the UID leaves the list and the counter takes it
//	counted         -            -              yes
//
// Two rules keep the count right over any crash, lost write or conflict: a finalizer is removed only when the stored status
// lists its pod, and a UID leaves the list only when the finalizer is gone. So "ended" is never mistaken for "counted".
//
// The cheapest order, and the slowest to count, is one status write a round: write n+1 counts the pods that write n
// listed and lists those that ended since, so a Job that ends pods in k rounds costs k+1 status writes, not 2k.
// MoveToCounters is for a controller that would rather count at once. An index in completedIndexes is list and counter in
// one: it cannot be added twice.
type tally struct {
	// uncounted is the list to store.
	uncounted batchv1.UncountedTerminatedPods
	// succeeded and failed leave the list for the counters.
	succeeded, failed int32
	// indexes are those to add to completedIndexes.
	indexes []int
	// removeFinalizer are pods that the status accounts for once it is stored with this tally.
	removeFinalizer []*corev1.Pod
	// more is set if pods must wait for a later status.
	more   bool
	counts Counts
}

// Listed returns the UIDs of the pods that the status lists in uncountedTerminatedPods.
func Listed(job *batchv1.Job) []types.UID {
	u := orEmpty(job.Status.UncountedTerminatedPods)
	return slices.Concat(u.Succeeded, u.Failed)
}

func track(v view, end *Verdict) tally {
	t := tally{}
	t.moveToCounters(v)
	room := v.MaxUncountedPods - len(t.uncounted.Succeeded) - len(t.uncounted.Failed)
	for _, p := range v.owned {
		if !v.tracked(p) || !mayRemoveFinalizer(v, end, p) {
			continue
		}
		taken := t.account(v, end, p, room)
		if taken == noRoom {
			t.more = true
			continue
		}
		room -= taken
		t.removeFinalizer = append(t.removeFinalizer, p)
	}
	return t
}

// moveToCounters moves UIDs whose pod has no finalizer any more from the list to the counters.
func (t *tally) moveToCounters(v view) {
	held := sets.New[types.UID]()
	for _, p := range v.owned {
		if v.tracked(p) {
			held.Insert(p.UID)
		}
	}
	stored := orEmpty(v.job.Status.UncountedTerminatedPods)
	t.uncounted.Succeeded, t.succeeded = split(stored.Succeeded, held)
	t.uncounted.Failed, t.failed = split(stored.Failed, held)
}

func split(listed []types.UID, held sets.Set[types.UID]) (stay []types.UID, gone int32) {
	for _, uid := range listed {
		if held.Has(uid) {
			stay = append(stay, uid)
		}
	}
	return stay, int32(len(listed) - len(stay))
}

// MoveToCounters returns the status with pods that have lost their finalizer moved from its list to its counters, nil if it
// lists none of them. The next decision would do the same.
func MoveToCounters(status *batchv1.JobStatus, untracked []*corev1.Pod) *batchv1.JobStatus {
	gone := sets.New[types.UID]()
	for _, p := range untracked {
		gone.Insert(p.UID)
	}
	next := status.DeepCopy()
	listed := orEmpty(next.UncountedTerminatedPods)
	succeeded, failed := len(listed.Succeeded), len(listed.Failed)
	listed.Succeeded = slices.DeleteFunc(listed.Succeeded, gone.Has)
	listed.Failed = slices.DeleteFunc(listed.Failed, gone.Has)
	succeeded, failed = succeeded-len(listed.Succeeded), failed-len(listed.Failed)
	if succeeded+failed == 0 {
		return nil
	}
	next.UncountedTerminatedPods = listed
	next.Succeeded += int32(succeeded)
	next.Failed += int32(failed)
	return next
}

// mayRemoveFinalizer reports whether p may lose its finalizer once it is counted.
func mayRemoveFinalizer(v view, end *Verdict, p *corev1.Pod) bool {
	switch {
	case v.job.DeletionTimestamp != nil:
		return true
	case end.Failure():
		// Pods that still run have been deleted by the time that the status is stored: they fail with the Job.
		return true
	case end != nil:
		return podstatus.IsTerminated(p) || p.DeletionTimestamp != nil
	case p.Status.Phase == corev1.PodSucceeded:
		return true
	default:
		return failed(v.job, p) && (v.NamespaceTerminating || v.lastFailedByIndex[IndexOf(p)] != p)
	}
}

// noRoom is the result of account for a pod that must wait for a later status.
const noRoom = -1

// account adds p to the list that counts it, if it counts at all, and returns how many entries of the status that takes.
func (t *tally) account(v view, end *Verdict, p *corev1.Pod, room int) int {
	if v.uncounted.has(p) || !v.countable(p) {
		return 0
	}
	if p.Status.Phase == corev1.PodSucceeded {
		return t.accountSuccess(v, p, room)
	}
	if !failed(v.job, p) && !end.Failure() {
		return 0
	}
	m := matchFailurePolicy(v.job, p)
	if m.counts() && room <= 0 {
		return noRoom
	}
	t.counts.policyAction(m.action)
	if !m.counts() {
		return 0
	}
	t.uncounted.Failed = append(t.uncounted.Failed, p.UID)
	return 1
}

func (t *tally) accountSuccess(v view, p *corev1.Pod, room int) int {
	if v.indexed() && (v.completed.Has(IndexOf(p)) || !v.done.Has(IndexOf(p))) {
		return 0
	}
	if room <= 0 {
		return noRoom
	}
	if v.indexed() {
		t.indexes = append(t.indexes, IndexOf(p))
	} else {
		t.uncounted.Succeeded = append(t.uncounted.Succeeded, p.UID)
	}
	return 1
}
