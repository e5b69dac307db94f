package job

import (
	"reflect"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/podstatus"
)

// listLimit is the world's bound for uncountedTerminatedPods.
const listLimit = 3

// ledger checks the core independently: it follows every write and fails the test on what must never happen.
type ledger struct {
	// listed pods are or were in uncountedTerminatedPods; counted pods have left it.
	listed, counted sets.Set[types.UID]
	// deletedUncounted pods were deleted by the controller uncounted and must not count.
	deletedUncounted sets.Set[types.UID]
	ended            batchv1.JobConditionType
	highest          int
	// failedAt is when the last pod failed that has not been followed by a success, as far as the controller knows; zero if
	// none has. Times are whole seconds, and what the controller observes later has happened later.
	failedAt time.Time
	// succeededAt is when a pod last succeeded since the last decision; zero if none has. A pod that failed no later, and is
	// observed before the next decision, is no retry.
	succeededAt time.Time
}

func newLedger() ledger {
	return ledger{listed: sets.New[types.UID](), counted: sets.New[types.UID](), deletedUncounted: sets.New[types.UID]()}
}

// checkDecision checks what must hold for any decision, however stale its observation.
func (l *ledger) checkDecision(w *world, obs Observation, d Decision) {
	l.succeededAt = time.Time{}
	if len(d.Create) > 0 && len(d.DeleteWithoutCounting)+len(d.Delete) > 0 {
		w.t.Fatalf("both creates %d and removes %d pods", len(d.Create), len(d.DeleteWithoutCounting)+len(d.Delete))
	}
	l.checkCreations(w, obs, d)
	l.checkDeletions(w, obs, d)
	shuffled := obs
	shuffled.Pods = slices.Clone(obs.Pods)
	slices.Reverse(shuffled.Pods)
	if other := Decide(shuffled); !reflect.DeepEqual(d, other) {
		w.t.Fatalf("the order of pods changes the decision:\n%s",
			cmp.Diff(d, other, cmp.AllowUnexported(Decision{}), cmpopts.EquateEmpty()))
	}
}

// checkDeletions checks that of the pods that lose their finalizer only the succeeded ones beyond the limit are deleted.
func (l *ledger) checkDeletions(w *world, obs Observation, d Decision) {
	left := obs.TerminatedPods.Total - len(d.DeleteCounted)
	for _, p := range d.RemoveFinalizer {
		if podstatus.IsTerminated(p) && p.DeletionTimestamp == nil {
			left++
		}
	}
	if len(d.DeleteCounted) > 0 && (obs.TerminatedPodsLimit == 0 || left < obs.TerminatedPodsLimit) {
		w.t.Fatalf("%d pods are left with a limit of %d", left, obs.TerminatedPodsLimit)
	}
	for _, p := range d.DeleteCounted {
		if !slices.Contains(d.RemoveFinalizer, p) || p.Status.Phase != corev1.PodSucceeded || len(p.Finalizers) > 1 {
			w.t.Fatalf("pod %s (%s) with the finalizers %v is deleted", p.UID, p.Status.Phase, p.Finalizers)
		}
	}
}

// observed records the end of a pod that the controller sees end.
func (l *ledger) observed(p *corev1.Pod) {
	at := EndedAt(p)
	switch {
	case p.Status.Phase == corev1.PodSucceeded:
		l.succeededAt = later(l.succeededAt, at)
		if !at.Before(l.failedAt) {
			l.failedAt = time.Time{}
		}
	case at.After(l.succeededAt):
		l.failedAt = later(l.failedAt, at)
	}
}

// found records the ends of the pods that a new controller finds. Those with a finalizer are not counted, perhaps because the
// former controller did not know of their ends.
func (l *ledger) found(pods []*corev1.Pod) {
	lastSuccess := time.Time{}
	l.failedAt, l.succeededAt = time.Time{}, time.Time{}
	for _, p := range pods {
		switch at := EndedAt(p); {
		case p.Status.Phase == corev1.PodFailed:
			l.failedAt = later(l.failedAt, at)
		case HasFinalizer(p):
			l.succeededAt = later(l.succeededAt, at)
		default:
			lastSuccess = later(lastSuccess, at)
		}
	}
	if l.failedAt.Before(lastSuccess) || !l.failedAt.After(l.succeededAt) {
		l.failedAt = time.Time{}
	}
}

func (l *ledger) checkCreations(w *world, obs Observation, d Decision) {
	if len(d.Create) == 0 {
		return
	}
	v := newView(obs)
	if !perIndex(obs.Job) && obs.Now.Before(l.failedAt.Add(v.delayAfter(1))) {
		w.t.Fatalf("%d pods are created at %v without a delay; the last pod failed at %v", len(d.Create), obs.Now, l.failedAt)
	}
	if replacesEndedOnly(obs.Job) && len(v.active)+len(v.terminating)+len(d.Create) > int(*obs.Job.Spec.Parallelism) {
		w.t.Fatalf("%d pods are replaced before they have ended", len(v.terminating))
	}
	if after := len(v.active) + len(d.Create); after > int(*obs.Job.Spec.Parallelism) {
		w.t.Fatalf("%d pods active with parallelism %d", after, *obs.Job.Spec.Parallelism)
	}
	if obs.Job.Spec.Completions == nil {
		return
	}
	if after := len(v.active) + len(d.Create); after > int(*obs.Job.Spec.Completions-v.succeeded) {
		w.t.Fatalf("%d pods active with %d of %d completions", after, v.succeeded, *obs.Job.Spec.Completions)
	}
	indexes := sets.New(indexesOf(v.active)...)
	for _, i := range indexesOf(d.Create) {
		if indexes.Has(i) || v.done.Has(i) || v.failedIndexes.Has(i) {
			w.t.Fatalf("index %d needs no pod", i)
		}
		indexes.Insert(i)
	}
}

// created checks a new pod against what is stored: not even a stale observation may lead to too many pods.
func (l *ledger) created(w *world, made *corev1.Pod) {
	for _, p := range w.seen {
		if perIndex(w.job) && IndexOf(p) == IndexOf(made) && failed(w.seenJob, p) && HasFinalizer(p) &&
			!w.flight.FinalizerRemoved.Has(p.UID) && allFailuresBefore(p) >= allFailuresBefore(made) {
			w.t.Fatalf("index %d forgets the failure of %s", IndexOf(p), p.UID)
		}
	}
	active := 0
	for _, p := range w.pods {
		if !podstatus.IsTerminated(p) && p.DeletionTimestamp == nil {
			active++
		}
	}
	l.highest = max(l.highest, active)
	if active > int(*w.seenJob.Spec.Parallelism) {
		w.t.Fatalf("%d pods are active with parallelism %d", active, *w.seenJob.Spec.Parallelism)
	}
}

// checkFinalizerRemoval fails the test if a finalizer is removed before the stored status accounts for the pod.
func (l *ledger) checkFinalizerRemoval(w *world, p *corev1.Pod) {
	stored := w.pods[p.UID]
	if stored == nil || !HasFinalizer(stored) || w.job.DeletionTimestamp != nil {
		return
	}
	s := w.job.Status
	u := orEmpty(s.UncountedTerminatedPods)
	if slices.Contains(u.Succeeded, p.UID) || slices.Contains(u.Failed, p.UID) {
		return
	}
	ignored := !matchFailurePolicy(w.job, p).counts()
	if w.job.Spec.CompletionMode != nil && *w.job.Spec.CompletionMode == batchv1.IndexedCompletion {
		// The stored indexes may be those of a Job that was larger.
		i, n := IndexOf(p), 100
		if i >= int(*w.seenJob.Spec.Completions) {
			return
		}
		if p.Status.Phase == corev1.PodSucceeded &&
			(ParseIndexes(s.CompletedIndexes, n).Has(i) || ParseIndexes(ptr.Deref(s.FailedIndexes, ""), n).Has(i)) {
			return
		}
	}
	succeeds := isTrue(condition(s.Conditions, batchv1.JobSuccessCriteriaMet))
	if ignored || (succeeds && !podstatus.IsTerminated(p)) {
		return
	}
	w.t.Fatalf("pod %s (%s) loses its finalizer uncounted: %+v", p.UID, p.Status.Phase, s)
}

// checkStatus compares a status with the one that it replaces.
func (l *ledger) checkStatus(w *world, next *batchv1.JobStatus) {
	old := w.job.Status
	was, is := orEmpty(old.UncountedTerminatedPods), orEmpty(next.UncountedTerminatedPods)
	l.checkList(w, was.Succeeded, is.Succeeded, next.Succeeded-old.Succeeded, w.indexed())
	l.checkList(w, was.Failed, is.Failed, next.Failed-old.Failed, false)
	if n := len(is.Succeeded) + len(is.Failed); n > listLimit {
		w.t.Fatalf("the list has %d pods", n)
	}
	if (next.Succeeded < old.Succeeded && !w.scaled) || next.Failed < old.Failed {
		w.t.Fatalf("a counter shrinks: %+v → %+v", old, next)
	}
	n := int(ptr.Deref(w.job.Spec.Completions, 0))
	if lost := ParseIndexes(old.CompletedIndexes, n).Without(ParseIndexes(next.CompletedIndexes, n)); len(lost) > 0 {
		w.t.Fatalf("completedIndexes loses %s", lost)
	}
	failed := ParseIndexes(ptr.Deref(next.FailedIndexes, ""), n)
	if lost := ParseIndexes(ptr.Deref(old.FailedIndexes, ""), n).Without(failed); len(lost) > 0 {
		w.t.Fatalf("failedIndexes loses %s", lost)
	}
	if done := ParseIndexes(next.CompletedIndexes, n); done.Without(failed).Count() != done.Count() {
		w.t.Fatalf("indexes %s succeeded and %s failed", done, failed)
	}
	if *next.Ready > next.Active || next.Active < 0 || *next.Terminating < 0 {
		w.t.Fatalf("impossible numbers of living pods: %+v", next)
	}
	l.checkConditions(w, next)
}

// checkList follows UIDs through a list: in once, out once, and the counter takes exactly those that go out.
func (l *ledger) checkList(w *world, was, is []types.UID, counted int32, byIndex bool) {
	for _, uid := range is {
		if slices.Contains(was, uid) {
			continue
		}
		if l.listed.Has(uid) {
			w.t.Fatalf("pod %s is listed for the second time", uid)
		}
		if l.deletedUncounted.Has(uid) {
			w.t.Fatalf("pod %s was discarded and is counted", uid)
		}
		l.listed.Insert(uid)
	}
	out := int32(0)
	for _, uid := range was {
		if slices.Contains(is, uid) {
			continue
		}
		if p := w.pods[uid]; p != nil && HasFinalizer(p) {
			w.t.Fatalf("pod %s is counted with its finalizer on", uid)
		}
		l.counted.Insert(uid)
		out++
	}
	if !byIndex && out != counted {
		w.t.Fatalf("%d pods leave the list and the counter takes %d", out, counted)
	}
}

func (l *ledger) checkConditions(w *world, next *batchv1.JobStatus) {
	succeeds := isTrue(condition(next.Conditions, batchv1.JobSuccessCriteriaMet))
	fails := isTrue(condition(next.Conditions, batchv1.JobFailureTarget))
	if succeeds && fails {
		w.t.Fatalf("the Job shall both succeed and fail")
	}
	if l.ended != "" {
		w.t.Fatalf("the status changes after the Job ended with %s", l.ended)
	}
	for _, end := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if !isTrue(condition(next.Conditions, end)) {
			continue
		}
		if l.ended != "" {
			w.t.Fatalf("the Job ends with %s and %s", l.ended, end)
		}
		l.ended = end
		if len(orEmpty(next.UncountedTerminatedPods).Failed)+len(orEmpty(next.UncountedTerminatedPods).Succeeded) > 0 ||
			next.Active > 0 || *next.Terminating > 0 || next.StartTime == nil && !hasZeroCompletions(w.job) {
			w.t.Fatalf("the Job ends too early: %+v", next)
		}
	}
}

func (w *world) indexed() bool {
	return w.job.Spec.CompletionMode != nil && *w.job.Spec.CompletionMode == batchv1.IndexedCompletion
}
