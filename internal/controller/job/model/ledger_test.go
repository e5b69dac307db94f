package model_test

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// ledger keeps the books of a history: what the server saw, who did it, and what nobody may forget.
type ledger struct {
	*world
	jobs map[types.UID]*account
	pods map[types.UID]*fate
	// statusBy tells who stored a status, by the version.
	statusBy map[int]*process
	// gone are the processes that have ended.
	gone []*process
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
	return &ledger{world: w, jobs: map[types.UID]*account{}, pods: map[types.UID]*fate{}, statusBy: map[int]*process{}}
}

func (a *account) now() *batchv1.Job { return a.versions[len(a.versions)-1] }

// before returns the version before j.
func (a *account) before(j *batchv1.Job) *batchv1.Job {
	return a.versions[slices.IndexFunc(a.versions, func(v *batchv1.Job) bool { return versionOf(v) == versionOf(j) })-1]
}

// since returns the versions that a process may have acted on: the one it knew and all later ones.
func (a *account) since(known *batchv1.Job) []*batchv1.Job {
	if known == nil || known.UID != a.now().UID {
		return a.versions
	}
	first := slices.IndexFunc(a.versions, func(j *batchv1.Job) bool { return versionOf(j) >= versionOf(known) })
	if first < 0 {
		return a.versions[len(a.versions)-1:]
	}
	return a.versions[first:]
}

// wrote keeps the books and checks what a write of a controller must satisfy.
func (l *ledger) wrote(jobWas, jobIs *batchv1.Job, podWas, podIs *corev1.Pod) {
	if jobIs != nil {
		l.wroteJob(jobWas, jobIs)
	}
	if podWas != nil || podIs != nil {
		l.wrotePod(podWas, podIs)
	}
}

func (l *ledger) wroteJob(was, is *batchv1.Job) {
	a := l.jobs[is.UID]
	if a == nil {
		a = &account{succeeded: map[types.UID]bool{}, failed: map[types.UID]bool{}, counted: map[types.UID]bool{}}
		l.jobs[is.UID] = a
	}
	a.versions = append(a.versions, is)
	if l.writer == nil {
		return
	}
	l.statusBy[versionOf(is)] = l.writer
	l.say("  status: %s", describeStatus(is))
	x := statusWrite{l, a, l.writer, was, is}
	for _, i := range statusInvariants {
		i.holds(x)
	}
}

func (l *ledger) wrotePod(was, is *corev1.Pod) {
	p := is
	if p == nil {
		p = was
	}
	f := l.pods[p.UID]
	if f == nil {
		f = &fate{born: l.server.version}
		l.pods[p.UID] = f
	}
	if is != nil {
		f.last = is
	}
	f.gone = is == nil
	if f.told == 0 && (f.gone || is.DeletionTimestamp != nil) {
		f.told, f.toldAt, f.toldBy = l.server.version, now().Time, l.writer
	}
	if f.over == 0 && (f.gone || ended(is)) {
		f.over = l.server.version
	}
	f.succeeded = f.succeeded || (is != nil && is.Status.Phase == corev1.PodSucceeded)
	f.toldToEnd = f.toldToEnd || (is != nil && is.DeletionTimestamp != nil && is.Status.Phase != corev1.PodSucceeded)
	if was != nil && held(was) && (is == nil || !held(is)) {
		f.releasedBy = l.writer
	}
	if was != nil && is != nil && !held(was) && held(is) {
		// It is adopted again, and will count after all.
		f.discarded, f.wasted = false, false
	}
	if l.writer != nil && was != nil {
		x := podWrite{l, l.writer, was, is}
		for _, i := range podInvariants {
			i.holds(x)
		}
	}
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		f.owner = ref.UID
	}
}

// creates looks at a pod that is about to come into being.
func (l *ledger) creates(r *request) {
	ref := metav1.GetControllerOfNoCopy(r.made)
	a := l.jobs[ref.UID]
	x := creation{l, a, r, r.by.knows}
	for _, i := range creationInvariants {
		i.holds(x)
	}
}

// foreign tells whether p is controlled by something that is no Job.
func (l *ledger) foreign(p *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil {
		return false
	}
	if a := l.jobs[ref.UID]; a != nil {
		return !managed(a.now())
	}
	return true
}

func (l *ledger) buried(p *process) { l.gone = append(l.gone, p) }

// scaled tells whether the completions of j ever changed.
func (l *ledger) scaled(j *batchv1.Job) bool {
	return slices.ContainsFunc(l.jobs[j.UID].versions, func(v *batchv1.Job) bool {
		return !ptr.Equal(v.Spec.Completions, j.Spec.Completions)
	})
}

// everFailed tells whether a controller could at some time see p as a failure of j.
func (l *ledger) everFailed(j *batchv1.Job, p *corev1.Pod) bool {
	return failedPod(j, p) || (judgesTerminating(j) && l.pods[p.UID].toldToEnd)
}

// belongs tells that p, as a process knows it, is a pod of j, and still is.
func (l *ledger) belongs(p *corev1.Pod, j *batchv1.Job) bool {
	last := l.pods[p.UID].last
	return controlledBy(p, j) && controlledBy(last, j) && selects(j, last)
}

// podsOf returns the newest versions of all pods, gone or not, that j controls or controlled last.
func (l *ledger) podsOf(j *batchv1.Job) (list []*corev1.Pod) {
	for _, f := range l.pods {
		if f.owner == j.UID {
			list = append(list, f.last)
		}
	}
	return list
}
