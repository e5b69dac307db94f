package job

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// plan is what changes among the living pods: some are deleted, or some are created, never both.
type plan struct {
	create, deleteWithoutCounting, delete []*corev1.Pod
	events                                []Event
	action                                Action
	// more is set if there is more to do as soon as the plan is applied.
	more bool
	// after, if positive, is how long until a delayed pod may be created.
	after time.Duration
}

func planPods(v view, end *Verdict) plan {
	switch {
	case end.Success():
		return plan{deleteWithoutCounting: v.active, action: Reconciling}
	case end.Failure():
		return plan{delete: v.active, action: Reconciling}
	case v.job.DeletionTimestamp != nil:
		// The client that deleted the Job has chosen what happens to its pods (propagation policy).
		return plan{action: Reconciling}
	case suspended(v.job):
		return plan{deleteWithoutCounting: v.active, action: PodsDeleted}
	case v.isWaiting():
		return plan{action: Reconciling}
	}
	want := wantActive(v)
	if surplus := surplusPods(v, len(v.active)-want); len(surplus) > 0 {
		return scaleDown(v, surplus)
	}
	missing := want - len(v.active)
	if replacesEndedOnly(v.job) {
		missing -= len(v.terminating)
	}
	p := scaleUp(v, min(missing, v.MaxPodCreateDelete))
	p.more = p.more || len(p.create) > 0 && missing > v.MaxPodCreateDelete
	return p
}

// wantActive is how many pods should be active: spec.parallelism, but never more than successes are missing. A work
// queue gets no new pods once one has succeeded, and keeps those it has.
func wantActive(v view) int {
	parallelism := int(ptr.Deref(v.job.Spec.Parallelism, 1))
	if v.job.Spec.Completions != nil {
		return max(0, min(parallelism, v.completions()-int(v.succeeded)))
	}
	if v.succeeded > 0 {
		return len(v.active)
	}
	return parallelism
}

func scaleDown(v view, surplus []*corev1.Pod) plan {
	n := min(len(surplus), v.MaxPodCreateDelete)
	p := plan{deleteWithoutCounting: surplus[:n], more: n < len(surplus), action: PodsDeleted}
	if v.job.Spec.Completions != nil && int(v.succeeded) >= v.completions() {
		p.events = append(p.events, Event{corev1.EventTypeWarning, "TooManyActivePods",
			"Too many active pods running after completion count reached"})
	}
	return p
}

func scaleUp(v view, missing int) plan {
	if missing <= 0 {
		return plan{action: Tracking}
	}
	if wait := v.NextCreateAt.Sub(v.Now); wait > 0 {
		return plan{after: wait, action: PodsCreated}
	}
	if !perIndex(v.job) {
		if wait := jobDelay(v); wait > 0 {
			return plan{after: wait, action: PodsCreated}
		}
	}
	if !v.indexed() {
		return plan{create: withBackoffRecord(v, newPods(v, missing)), action: PodsCreated}
	}
	indexes, wait := startable(v, pendingIndexes(v, missing))
	// A new pod takes over the count of failures of the last failed one, which can be counted from then on.
	frees := slices.ContainsFunc(indexes, func(i int) bool { return v.lastFailedByIndex[i] != nil })
	return plan{create: withBackoffRecord(v, newIndexedPods(v, indexes)), after: wait, action: PodsCreated, more: frees}
}

// pendingIndexes returns the lowest n indexes that need a pod.
func pendingIndexes(v view, n int) []int {
	if v.completions() == 0 {
		return nil
	}
	busy := v.done.Union(v.failedIndexes).With(indexesOf(v.active)...)
	if replacesEndedOnly(v.job) {
		busy = busy.With(indexesOf(v.terminating)...)
	}
	return Indexes{{0, v.completions() - 1}}.Without(busy).first(n)
}

// startable returns the indexes whose delay is over, and how long until the next one's is.
func startable(v view, indexes []int) (now []int, after time.Duration) {
	for _, i := range indexes {
		if wait := indexDelay(v, v.lastFailedByIndex[i]); wait > 0 {
			after = earliest(after, wait)
			continue
		}
		now = append(now, i)
	}
	return now, after
}
