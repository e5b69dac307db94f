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

// History has the newest success and failures of a Job's pods. It depends on nothing but the pods, so that a restarted
// controller finds the same delays as before. The zero value is empty.
type History struct {
	lastSuccess time.Time
	// failures are the newest maxRecordedFailures, oldest first.
	failures []failureAt
	// backoffRecord is the newest record on a pod, of failures whose pods may be gone.
	backoffRecord backoffRecord
}

type failureAt struct {
	pod types.UID
	at  time.Time
}

// Add records the end of a pod that has terminated or, if that counts as a failure, was deleted. If versions of a pod with
// different ends are added, in any order, the later end counts.
func (h *History) Add(p *corev1.Pod) {
	at := EndedAt(p)
	if p.Status.Phase == corev1.PodSucceeded {
		if at.After(h.lastSuccess) {
			h.lastSuccess = at
		}
		return
	}
	h.backoffRecord = h.backoffRecord.newer(backoffRecordOf(p))
	h.failures = slices.DeleteFunc(slices.Clone(h.failures), func(f failureAt) bool {
		if f.pod == p.UID {
			at = later(at, f.at)
		}
		return f.pod == p.UID
	})
	n, _ := slices.BinarySearchFunc(h.failures, at, func(f failureAt, at time.Time) int { return f.at.Compare(at) })
	h.failures = slices.Insert(h.failures, n, failureAt{p.UID, at})
	if len(h.failures) > maxRecordedFailures {
		h.failures = h.failures[1:]
	}
}

// sinceSuccess returns the number of failures after the last success, and the time of the last one.
func (h History) sinceSuccess() (n int, last time.Time) {
	further := 0
	for _, f := range h.failures {
		if !f.at.After(h.lastSuccess) {
			continue
		}
		n, last = n+1, f.at
		if !h.backoffRecord.covers(f.at) {
			further++
		}
	}
	if h.backoffRecord.until.After(h.lastSuccess) {
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
