package job

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/podstatus"
)

// surplusPods returns at least atLeast active pods to delete, chosen by deletion preference. Always among them are pods
// whose finalizer was removed but that could not be deleted and, in an Indexed Job, the pods without an index, those with
// an index beyond completions, and all but one of each index.
func surplusPods(v view, atLeast int) []*corev1.Pod {
	var surplus, useful []*corev1.Pod
	for _, p := range v.active {
		if v.InFlight.FinalizerRemoved.Has(p.UID) {
			surplus = append(surplus, p)
		} else {
			useful = append(useful, p)
		}
	}
	if v.indexed() {
		var useless []*corev1.Pod
		useless, useful = splitDuplicateIndexes(v, useful)
		surplus = append(surplus, useless...)
	}
	if more := atLeast - len(surplus); more > 0 {
		slices.SortFunc(useful, byDeletionPreference)
		surplus = append(surplus, useful[:more]...)
	}
	return surplus
}

// splitDuplicateIndexes separates the pods with no valid index, and all but one of each index, from the others. The pods
// must be in the order of their indexes.
func splitDuplicateIndexes(v view, pods []*corev1.Pod) (useless, useful []*corev1.Pod) {
	for rest := pods; len(rest) > 0; {
		n := 1
		for n < len(rest) && IndexOf(rest[n]) == IndexOf(rest[0]) {
			n++
		}
		same := rest[:n]
		rest = rest[n:]
		if !v.countable(same[0]) {
			useless = append(useless, same...)
			continue
		}
		slices.SortFunc(same, byDeletionPreference)
		keep := len(same) - 1
		useless, useful = append(useless, same[:keep]...), append(useful, same[keep])
	}
	return useless, useful
}

// byDeletionPreference orders pods by what is lost with them: not on a node before on one, pending before running, not ready
// before ready, ready for a short time before a long one, with many restarts (of its own containers, then of its sidecars) before
// few, young before old.
func byDeletionPreference(a, b *corev1.Pod) int {
	return cmp.Or(
		compareBool(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		cmp.Compare(phaseRank(a), phaseRank(b)),
		compareBool(podstatus.IsReady(a), podstatus.IsReady(b)),
		newestFirst(readySince(a), readySince(b)),
		cmp.Compare(maxRestarts(b.Status.ContainerStatuses), maxRestarts(a.Status.ContainerStatuses)),
		cmp.Compare(maxRestarts(podstatus.Sidecars(b)), maxRestarts(podstatus.Sidecars(a))),
		newestFirst(a.CreationTimestamp.Time, b.CreationTimestamp.Time),
		cmp.Compare(a.UID, b.UID),
	)
}

func phaseRank(p *corev1.Pod) int {
	return slices.Index([]corev1.PodPhase{corev1.PodPending, corev1.PodUnknown, corev1.PodRunning}, p.Status.Phase)
}

func readySince(p *corev1.Pod) time.Time {
	if !podstatus.IsReady(p) {
		return time.Time{}
	}
	return podstatus.Condition(p, corev1.PodReady).LastTransitionTime.Time
}

func maxRestarts(containers []corev1.ContainerStatus) int32 {
	most := int32(0)
	for i := range containers {
		most = max(most, containers[i].RestartCount)
	}
	return most
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// newestFirst puts later times first, and an unknown time before all others.
func newestFirst(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return compareBool(!a.IsZero(), !b.IsZero())
	}
	return b.Compare(a)
}
