package results

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/podstatus"
)

// startedAt is when the first container started. A status has only the last two runs of a container; if containers were
// restarted more often, the pod's own start time is closer.
func startedAt(p *corev1.Pod) (first metav1.Time) {
	for c := range podstatus.Containers(p) {
		for _, s := range [...]*corev1.ContainerState{&c.State, &c.LastTerminationState} {
			if t := startOf(s); isRealTime(t) && (first.IsZero() || t.Before(&first)) {
				first = t
			}
		}
	}
	if again := restarts(p) > 1; again && !first.IsZero() && p.Status.StartTime != nil && p.Status.StartTime.Before(&first) {
		return *p.Status.StartTime
	}
	return first
}

func startOf(s *corev1.ContainerState) metav1.Time {
	switch {
	case s.Running != nil:
		return s.Running.StartedAt
	case s.Terminated != nil:
		return s.Terminated.StartedAt
	}
	return metav1.Time{}
}

// isRealTime reports whether t is a real time: some runtimes write 1970 for a container that never started.
func isRealTime(t metav1.Time) bool { return !t.IsZero() && t.Unix() > 0 }

// finishedAt is when a terminated pod ended: when its last container did or, if none ran, when its conditions last
// changed. It is zero for other pods.
func finishedAt(p *corev1.Pod) (last metav1.Time) {
	if !podstatus.IsTerminal(p.Status.Phase) {
		return last
	}
	for s := range podstatus.Containers(p) {
		if t := ended(s); t != nil && isRealTime(t.FinishedAt) && last.Before(&t.FinishedAt) {
			last = t.FinishedAt
		}
	}
	if !last.IsZero() {
		return last
	}
	for _, c := range p.Status.Conditions {
		if last.Before(&c.LastTransitionTime) {
			last = c.LastTransitionTime
		}
	}
	return last
}
