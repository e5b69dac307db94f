package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/podstatus"
)

// endedExternally is a pod that somebody else has ended: its status is final while containers run.
func endedExternally(p *plan) *cause {
	if !podstatus.IsTerminal(p.Pod.Status.Phase) {
		return nil
	}
	deadline := p.Now.Add(p.grace())
	for _, u := range p.containers {
		if !u.StopBy.IsZero() && u.StopBy.Before(deadline) {
			deadline = u.StopBy // Sidecars get what the others have left.
		}
	}
	return &cause{phase: p.Pod.Status.Phase, deadline: deadline, cutShort: true}
}

// LacksContainerEnds tells whether the final status of a pod of which nothing runs shows a container that has not ended: somebody else
// has written it.
func LacksContainerEnds(stored corev1.PodStatus, known map[string]History) bool {
	told := map[string]bool{}
	for _, statuses := range [][]corev1.ContainerStatus{stored.InitContainerStatuses, stored.ContainerStatuses} {
		for i := range statuses {
			if statuses[i].State.Running != nil {
				return true
			}
			told[statuses[i].Name] = statuses[i].State.Terminated != nil
		}
	}
	for name, h := range known {
		if h.Exited() && !told[name] {
			return true
		}
	}
	return false
}

// AddContainerEnds returns the final status that somebody else has written, with how the containers have ended. What the pod came to,
// and why, stays as it was written.
func AddContainerEnds(stored, decided corev1.PodStatus, now time.Time) corev1.PodStatus {
	told := *stored.DeepCopy()
	told.ContainerStatuses = decided.ContainerStatuses
	told.InitContainerStatuses = decided.InitContainerStatuses
	told.Conditions = mergeConditions(stored.Conditions, decided.Conditions, now)
	return told
}
