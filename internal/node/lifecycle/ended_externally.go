package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/podstatus"
)

// endedExternally applies if another client has ended the pod: its status is final while containers run.
func endedExternally(p *plan) *cause {
	if !podstatus.IsTerminal(p.Pod.Status.Phase) {
		return nil
	}
	deadline := p.Now.Add(p.grace())
	for _, c := range p.containers {
		if !c.StopBy.IsZero() && c.StopBy.Before(deadline) {
			deadline = c.StopBy // Sidecars get what the other containers have left of the grace period.
		}
	}
	return &cause{phase: p.Pod.Status.Phase, deadline: deadline, cutShort: true}
}

// LacksContainerEnds reports whether the final status of a pod, of which nothing runs, shows a container that has not
// terminated. Then another client has written the status.
func LacksContainerEnds(stored corev1.PodStatus, known map[string]History) bool {
	terminated := map[string]bool{}
	for s := range podstatus.EveryContainer(&stored) {
		if s.State.Running != nil {
			return true
		}
		terminated[s.Name] = s.State.Terminated != nil
	}
	for name, h := range known {
		if h.Exited() && !terminated[name] {
			return true
		}
	}
	return false
}

// AddContainerEnds returns the final status that another client has written, with the states of the terminated
// containers added. Its phase, reason and message stay.
func AddContainerEnds(stored, decided corev1.PodStatus, now time.Time) corev1.PodStatus {
	completed := *stored.DeepCopy()
	completed.ContainerStatuses = decided.ContainerStatuses
	completed.InitContainerStatuses = decided.InitContainerStatuses
	completed.EphemeralContainerStatuses = decided.EphemeralContainerStatuses
	completed.Conditions = mergeConditions(stored.Conditions, decided.Conditions, now)
	return completed
}
