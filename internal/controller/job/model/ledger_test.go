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

// ledger keeps the books of a history: what the server saw, who did it, and what nobody may forget.
type ledger struct {
	*world
	// accounts are those of Jobs, fates those of pods.
	accounts map[types.UID]*account
	fates    map[types.UID]*fate
	// statusBy tells who stored a status, by the version.
	statusBy map[int]*process
}

// account is one Job's.
type account struct {
	// versions are all that was stored, oldest first.
	versions []*batchv1.Job
	// listed pods were in uncountedTerminatedPods; counted ones have left it.
	succeeded, failed, counted map[types.UID]bool
}

// fate is what became of a pod.
type fate struct {
	// last is the newest version; gone tells that it is the last.
	last *corev1.Pod
	gone bool
	// born, told and over are the versions with which the pod came, was told to end and ended; 0 is not yet.
	born, told, over int
	// toldAt is when it was told to end, and toldBy the process that did; nil for others.
	toldAt time.Time
	toldBy *process
	// owner was the last Job to control it.
	owner types.UID
	// succeeded pods did, whatever their phase has turned to.
	succeeded bool
	// toldToEnd pods were deleted before they succeeded.
	toldToEnd bool
	// discarded pods were not needed any more; wasted ones had just ended or been deleted, which the controller did not know.
	discarded, wasted bool
	// letGo pods had no Job, did not match the selector, as the controller knew them, or had an index beyond the Job's.
	letGo bool
	// releasedBy took the finalizer off, and got to know that it did.
	releasedBy   *process
	releaseKnown bool
}

// livedAfter tells that f had not come to its end, as j judges, when other came.
func (f *fate) livedAfter(other *fate, j *batchv1.Job) bool {
	end := f.over
	if judgesTerminating(j) && f.told > 0 && (end == 0 || f.told < end) {
		end = f.told
	}
	return end == 0 || end > other.born
}

func newLedger(w *world) *ledger {
	return &ledger{world: w, accounts: map[types.UID]*account{}, fates: map[types.UID]*fate{}, statusBy: map[int]*process{}}
}

func (a *account) now() *batchv1.Job { return a.versions[len(a.versions)-1] }

// before returns the version before j.
func (a *account) before(j *batchv1.Job) *batchv1.Job {
	return a.versions[slices.IndexFunc(a.versions, func(v *batchv1.Job) bool { return simulated.VersionOf(v) == simulated.VersionOf(j) })-1]
}

// since returns the versions that a process may have acted on: the one it knew and all later ones.
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

// wroteJob and wrotePod keep the books and check what a write of a controller must satisfy.
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
	l.statusBy[simulated.VersionOf(is)] = writer
	l.Say("  status: %s", describeStatus(is))
	x := statusWrite{l, a, writer, was, is}
	for _, i := range statusInvariants {
		i.holds(x)
	}
}

func (l *ledger) wrotePod(was, is *corev1.Pod) {
	writer, p := l.of(l.Writer), cmp.Or(is, was)
	f := l.fates[p.UID]
	if f == nil {
		f = &fate{born: l.Server.Version()}
		l.fates[p.UID] = f
	}
	if is != nil {
		f.last = is
	}
	f.gone = is == nil
	if f.told == 0 && (f.gone || is.DeletionTimestamp != nil) {
		f.told, f.toldAt, f.toldBy = l.Server.Version(), simulated.Now().Time, writer
	}
	if f.over == 0 && (f.gone || ended(is)) {
		f.over = l.Server.Version()
	}
	f.succeeded = f.succeeded || (is != nil && is.Status.Phase == corev1.PodSucceeded)
	f.toldToEnd = f.toldToEnd || (is != nil && is.DeletionTimestamp != nil && is.Status.Phase != corev1.PodSucceeded)
	if was != nil && held(was) && (is == nil || !held(is)) {
		f.releasedBy = writer
	}
	if was != nil && is != nil && !held(was) && held(is) {
		// It is adopted again, and will count after all.
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

// carrying looks at a pod that is about to come into being.
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

// foreign reports whether p is controlled by something that is no Job.
func (l *ledger) foreign(p *corev1.Pod) bool {
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

// everFailed reports whether a controller could at some time see p as a failure of j.
func (l *ledger) everFailed(j *batchv1.Job, p *corev1.Pod) bool {
	return failedPod(j, p) || (judgesTerminating(j) && l.fates[p.UID].toldToEnd)
}

// belongs tells that p, as a process knows it, is a pod of j, and still is.
func (l *ledger) belongs(p *corev1.Pod, j *batchv1.Job) bool {
	last := l.fates[p.UID].last
	return controlledBy(p, j) && controlledBy(last, j) && selects(j, last)
}

// podsOf returns the newest versions of all pods, gone or not, that j controls or controlled last.
func (l *ledger) podsOf(j *batchv1.Job) (list []*corev1.Pod) {
	for _, f := range l.fates {
		if f.owner == j.UID {
			list = append(list, f.last)
		}
	}
	return list
}
