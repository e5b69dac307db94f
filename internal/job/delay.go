package job

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/podstatus"
)

// maxRecordedFailures bounds the failures in a History: the delay doubles with each, so further ones change nothing.
const maxRecordedFailures = 40

// History has the last success of a Job's pods, and the failures since. A restarted controller works it out from the pods, so
// that it finds the same delays as before. The zero value is empty.
//
// The API's times are whole seconds. Of pods that end in the same second, a controller knows the order only if it sees them end
// (Observe). Of the failures that it finds in the second of the last success (Add), one counts as later if the success is counted
// already. So after a success a pod is retried without a delay at most once.
type History struct {
	lastSuccess time.Time
	// isDecided is set once a decision may have been made that knows of the last success.
	isDecided bool
	// failures are the newest maxRecordedFailures, oldest first.
	failures []failureAt
	// backoffRecord is the newest record on a pod, of failures whose pods may be gone.
	backoffRecord backoffRecord
}

type failureAt struct {
	pod types.UID
	at  time.Time
	// beforeSuccess is set if the failure counts as earlier than the last success, which was in the same second.
	beforeSuccess bool
}

// Observe records the end of a pod that the controller has just seen end. It must be called once for each pod.
func (h *History) Observe(p *corev1.Pod) { h.add(p, true) }

// Decided records that a decision is made from h. A pod that fails afterwards may be a retry that the decision makes. A pod that
// fails between a success and the next decision is no retry: it counts as if it had failed before the success.
func (h *History) Decided() { h.isDecided = true }

// Add records the end of a pod that has terminated or, if that counts as a failure, was deleted, at any time before. If versions
// of a pod with different ends are added, in any order, the later end counts.
func (h *History) Add(p *corev1.Pod) { h.add(p, false) }

// add records the end of p; seen means that the controller saw p end, after all that is recorded.
func (h *History) add(p *corev1.Pod, seen bool) {
	at := EndedAt(p)
	if p.Status.Phase == corev1.PodSucceeded {
		// A former controller has made a decision that knows of the pods that it has counted.
		h.addSuccess(at, seen, !seen && !HasFinalizer(p))
		return
	}
	h.backoffRecord = h.backoffRecord.newer(backoffRecordOf(p))
	h.addFailure(failureAt{pod: p.UID, at: at}, seen)
}

// addSuccess records a success; decided means that a decision may have been made that knows of it.
func (h *History) addSuccess(at time.Time, seen, decided bool) {
	if !seen && !at.After(h.lastSuccess) {
		return
	}
	h.lastSuccess, h.isDecided = later(h.lastSuccess, at), decided
	h.failures = slices.DeleteFunc(slices.Clone(h.failures), func(f failureAt) bool { return f.at.Before(at) })
	counts := decided // Which came first is not known: one failure counts.
	for i := range h.failures {
		if f := &h.failures[i]; f.at.Equal(at) {
			f.beforeSuccess, counts = !counts, false
		}
	}
}

// addFailure records a failure. Only a failure that the controller has seen after a decision can be a retry; one that is found in
// the second of the last success counts if no other does.
func (h *History) addFailure(f failureAt, seen bool) {
	known := slices.IndexFunc(h.failures, func(other failureAt) bool { return other.pod == f.pod })
	mayBeRetry := seen && h.isDecided
	if known >= 0 && !f.at.After(h.failures[known].at) || f.at.Before(h.lastSuccess) && !mayBeRetry {
		return
	}
	f.beforeSuccess = f.at.Equal(h.lastSuccess) && !mayBeRetry && (!h.isDecided || h.countsOneInSecondOfSuccess())
	failures := slices.Clone(h.failures)
	if known >= 0 {
		failures = slices.Delete(failures, known, known+1)
	}
	h.failures = inserted(failures, f)
}

// countsOneInSecondOfSuccess reports whether a failure in the second of the last success counts as later. If the list is full, f may
// have been dropped from it before, and others count.
func (h History) countsOneInSecondOfSuccess() bool {
	return len(h.failures) == maxRecordedFailures ||
		slices.ContainsFunc(h.failures, func(f failureAt) bool { return f.at.Equal(h.lastSuccess) && !f.beforeSuccess })
}

// inserted returns failures with f. If there are too many, one goes that does not count, else the oldest.
func inserted(failures []failureAt, f failureAt) []failureAt {
	n := slices.IndexFunc(failures, func(other failureAt) bool { return other.at.After(f.at) })
	if n < 0 {
		n = len(failures)
	}
	failures = slices.Insert(failures, n, f)
	if len(failures) > maxRecordedFailures {
		surplus := max(0, slices.IndexFunc(failures, func(f failureAt) bool { return f.beforeSuccess }))
		failures = slices.Delete(failures, surplus, surplus+1)
	}
	return failures
}

// counts reports whether the failure of p came after the last success.
func (h History) counts(p *corev1.Pod) bool {
	return EndedAt(p).After(h.lastSuccess) ||
		slices.ContainsFunc(h.failures, func(f failureAt) bool { return f.pod == p.UID && !f.beforeSuccess })
}

// sinceSuccess returns the number of failures after the last success, and the time of the last one. Failures that ended before the
// success and were seen after it count as one: a clock may be slow, or they were reported late.
func (h History) sinceSuccess() (n int, last time.Time) {
	further := 0
	for _, f := range h.failures {
		if f.beforeSuccess {
			continue
		}
		last = f.at
		if n > 0 && f.at.Before(h.lastSuccess) {
			continue
		}
		n++
		if !h.backoffRecord.covers(f.at) {
			further++
		}
	}
	if !h.backoffRecord.until.Before(h.lastSuccess) {
		n, last = max(n, h.backoffRecord.failures+further), later(last, h.backoffRecord.until)
	}
	return n, last
}

// jobDelay returns how long the Job must wait before it may replace failed pods.
func jobDelay(v view) time.Duration { return v.delayLeft(failuresInARow(v)) }

// failuresInARow returns the number of pods that failed since the last one succeeded, and when the last of them did.
func failuresInARow(v view) (n int, last time.Time) { return recorded(v).sinceSuccess() }

// recorded returns the history with the observed pods added.
func recorded(v view) History {
	h := v.History
	for _, p := range v.owned {
		h.backoffRecord = h.backoffRecord.newer(backoffRecordOf(p))
		ended := failed(v.job, p) || p.Status.Phase == corev1.PodSucceeded
		// A pod that is listed as failed may still run. A restarted controller knows its failure only from the list.
		if ended && v.countable(p) && (v.tracked(p) || v.uncounted.failed.Has(p.UID)) {
			h.Add(p)
		}
	}
	return h
}

// delayLeft is what is left of the delay after so many failures in a row: PodFailureBackoff, doubled by each failure
// after the first, up to MaxPodFailureBackoff, from the last failure on.
func (v *view) delayLeft(failures int, last time.Time) time.Duration {
	if failures == 0 || v.PodFailureBackoff == 0 {
		return 0 // even if last is in the future, because the clock of the pod's node is fast
	}
	return max(0, last.Add(v.delayAfter(failures)).Sub(v.Now))
}

func (v *view) delayAfter(failures int) time.Duration {
	delay := min(v.PodFailureBackoff, v.MaxPodFailureBackoff)
	for range failures - 1 {
		if delay > v.MaxPodFailureBackoff/2 {
			return v.MaxPodFailureBackoff
		}
		delay *= 2
	}
	return delay
}

// EndedAt returns when p terminated. A pod that was failed by its pending timeout terminated then.
func EndedAt(p *corev1.Pod) time.Time {
	if c := podstatus.ConditionIs(p, PendingTimeout, corev1.ConditionTrue); c != nil {
		return c.LastTransitionTime.Time
	}
	return podstatus.TerminatedAt(p)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
