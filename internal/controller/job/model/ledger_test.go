package model_test

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/simulated"
)

// ledger records a history: every version that the server stored, and which process wrote it.
type ledger struct {
	*world
	// accounts are the records of Jobs, fates those of pods.
	accounts map[types.UID]*account
	fates    map[types.UID]*fate
	// statusBy is the process that stored the status of a Job, by the server's version. An object's version is of no use, as
	// it cannot be compared with those of pods.
	statusBy map[int]*process
}

// account is the record of one Job.
type account struct {
	// versions are all versions that were stored, oldest first.
	versions []*batchv1.Job
	// succeeded and failed are the pods that have been in uncountedTerminatedPods; counted are those that have left it.
	succeeded, failed, counted map[types.UID]bool
}

// fate is the record of one pod.
type fate struct {
	// last is the newest version; gone means that the pod was removed.
	last *corev1.Pod
	gone bool
	// created, told and terminated are the server's versions when the pod was created, deleted, and terminated or removed; 0
	// if not yet.
	created, deleted, terminated int
	// deletedAt is when the pod was deleted, and deletedBy the process that deleted it; nil if it was another client.
	deletedAt time.Time
	deletedBy *process
	// owner is the last Job that controlled the pod.
	owner types.UID
	// succeeded means that the pod was Succeeded once, even if its phase has changed since.
	succeeded bool
	// deletedEarly means that the pod was deleted before it succeeded.
	deletedEarly bool
	// discarded means that a process removed the finalizer uncounted, as the pod was not needed any more; wasted, that the pod
	// had just terminated or been deleted, which the process did not know.
	discarded, wasted bool
	// unowned means that the finalizer was removed from a pod without a Job, or, as far as the process knew, with labels
	// that the selector did not match or with an index beyond the Job's.
	unowned bool
	// finalizerRemovedBy is the process that removed the finalizer; removalKnown means that it got the answer.
	finalizerRemovedBy *process
	removalKnown       bool
}

// livedAfter reports whether f was alive after other was created, by the rules of j.
func (f *fate) livedAfter(other *fate, j *batchv1.Job) bool {
	end := f.terminated
	if judgesTerminating(j) && f.deleted > 0 && (end == 0 || f.deleted < end) {
		end = f.deleted
	}
	return end == 0 || end > other.created
}

func newLedger(w *world) *ledger {
	return &ledger{world: w, accounts: map[types.UID]*account{}, fates: map[types.UID]*fate{}, statusBy: map[int]*process{}}
}

func (a *account) now() *batchv1.Job { return a.versions[len(a.versions)-1] }

// before returns the version before j.
func (a *account) before(j *batchv1.Job) *batchv1.Job {
	return a.versions[slices.IndexFunc(a.versions, func(v *batchv1.Job) bool { return simulated.VersionOf(v) == simulated.VersionOf(j) })-1]
}

// since returns the versions that a decision of a process may be based on: the one it knew and all later ones.
func (a *account) since(known *batchv1.Job) []*batchv1.Job {
	if known == nil || known.UID != a.now().UID {
		return a.versions
	}
	first := slices.IndexFunc(a.versions, func(j *batchv1.Job) bool { return simulated.VersionOf(j) >= simulated.VersionOf(known) })
	if first < 0 {
		return a.versions[len(a.versions)-1:]
	}
	return a.versions[first:]
}

// wroteJob and wrotePod record a write and, if a process wrote, check the invariants.
func (l *ledger) wroteJob(was, is *batchv1.Job) {
	if is == nil {
		return
	}
	a := l.accounts[is.UID]
	if a == nil {
		a = &account{succeeded: map[types.UID]bool{}, failed: map[types.UID]bool{}, counted: map[types.UID]bool{}}
		l.accounts[is.UID] = a
	}
	a.versions = append(a.versions, is)
	writer := l.of(l.Writer)
	if writer == nil {
		return
	}
	l.statusBy[l.Server.Version()] = writer
	l.Logf("  status: %s", describeStatus(is))
	x := statusWrite{l, a, writer, was, is}
	for _, i := range statusInvariants {
		i.holds(x)
	}
}

func (l *ledger) wrotePod(was, is *corev1.Pod) {
	writer, p := l.of(l.Writer), cmp.Or(is, was)
	f := l.fates[p.UID]
	if f == nil {
		f = &fate{created: l.Server.Version()}
		l.fates[p.UID] = f
	}
	if is != nil {
		f.last = is
	}
	f.gone = is == nil
	if f.deleted == 0 && (f.gone || is.DeletionTimestamp != nil) {
		f.deleted, f.deletedAt, f.deletedBy = l.Server.Version(), simulated.Now().Time, writer
	}
	if f.terminated == 0 && (f.gone || ended(is)) {
		f.terminated = l.Server.Version()
	}
	f.succeeded = f.succeeded || (is != nil && is.Status.Phase == corev1.PodSucceeded)
	f.deletedEarly = f.deletedEarly || (is != nil && is.DeletionTimestamp != nil && is.Status.Phase != corev1.PodSucceeded)
	if was != nil && hasFinalizer(was) && (is == nil || !hasFinalizer(is)) {
		f.finalizerRemovedBy = writer
	}
	if was != nil && is != nil && !hasFinalizer(was) && hasFinalizer(is) {
		// It is adopted again, and is counted after all.
		f.discarded, f.wasted = false, false
	}
	if writer != nil && was != nil {
		x := podWrite{l, writer, was, is}
		for _, i := range podInvariants {
			i.holds(x)
		}
	}
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		f.owner = ref.UID
	}
}

// carrying checks the invariants for a pod that is about to be created.
func (l *ledger) carrying(r *simulated.Request) {
	if r.What() != "create pod" {
		return
	}
	pod := r.Object.(*corev1.Pod)
	a := l.accounts[metav1.GetControllerOfNoCopy(pod).UID]
	x := creation{l, a, pod, r.At, l.of(r.By)}
	for _, i := range creationInvariants {
		i.holds(x)
	}
}

// isOfAnotherController reports whether another controller owns p: its owner is no Job, or a Job with another
// spec.managedBy.
func (l *ledger) isOfAnotherController(p *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil {
		return false
	}
	if a := l.accounts[ref.UID]; a != nil {
		return !managed(a.now())
	}
	return true
}

// scaled reports whether the completions of j ever changed.
func (l *ledger) scaled(j *batchv1.Job) bool {
	return slices.ContainsFunc(l.accounts[j.UID].versions, func(v *batchv1.Job) bool {
		return !ptr.Equal(v.Spec.Completions, j.Spec.Completions)
	})
}

// everFailed reports whether p has been a failure of j at some time.
func (l *ledger) everFailed(j *batchv1.Job, p *corev1.Pod) bool {
	return failedPod(j, p) || (judgesTerminating(j) && l.fates[p.UID].deletedEarly)
}

// belongs reports whether j controls p, as a process knows it, and its newest version.
func (l *ledger) belongs(p *corev1.Pod, j *batchv1.Job) bool {
	last := l.fates[p.UID].last
	return controlledBy(p, j) && controlledBy(last, j) && selects(j, last)
}

// podsOf returns the newest versions of all pods, removed or not, that j was the last Job to control.
func (l *ledger) podsOf(j *batchv1.Job) (list []*corev1.Pod) {
	for _, f := range l.fates {
		if f.owner == j.UID {
			list = append(list, f.last)
		}
	}
	return list
}
