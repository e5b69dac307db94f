package podstatus

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Unscheduled returns the condition PodScheduled if it is false, else nil.
func Unscheduled(p *corev1.Pod) *corev1.PodCondition {
	return ConditionIs(p, corev1.PodScheduled, corev1.ConditionFalse)
}

// IsRoutine reports whether every pod passes through this waiting reason on its way to start. With a message, something
// is wrong.
func IsRoutine(w *corev1.ContainerStateWaiting) bool {
	switch w.Reason {
	case "":
		return true
	case "ContainerCreating", "PodInitializing":
		return w.Message == ""
	}
	return false
}

// WaitingReason returns what p waits for until all its containers have started: a reason of the API, and a message where
// there is one.
func WaitingReason(p *corev1.Pod) (reason, message string) {
	if c := Unscheduled(p); c != nil {
		return c.Reason, c.Message
	}
	mains := slices.DeleteFunc(slices.Clone(p.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool { return HasStarted(&s) })
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, mains) {
		w := s.State.Waiting
		switch {
		case w == nil, reason != "" && w.Message == "":
		case w.Message != "":
			return w.Reason, fmt.Sprintf("container %s: %s", s.Name, w.Message)
		default:
			reason, message = w.Reason, "container "+s.Name
		}
	}
	switch {
	case reason != "":
		return reason, message
	case p.Spec.NodeName == "":
		return "Pending", "the pod is not bound to a node yet"
	default:
		return "Pending", fmt.Sprintf("node %s has reported nothing about the pod yet", p.Spec.NodeName)
	}
}
