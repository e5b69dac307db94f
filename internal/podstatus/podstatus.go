// Package podstatus reads facts from the status of one pod: whether it has terminated and when, whether its containers
// have started, what it waits for.
//
// It computes only, and knows nothing of Jobs. A status may be empty, partial or written by any kubelet.
package podstatus

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// IsTerminal reports whether a pod in this phase has terminated: no container of it will start again.
func IsTerminal(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}

// IsTerminated reports whether p has terminated.
func IsTerminated(p *corev1.Pod) bool { return IsTerminal(p.Status.Phase) }

// Condition returns the condition of that type, nil where p has none.
func Condition(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// ConditionIs returns the condition of that type if it has that status, else nil.
func ConditionIs(p *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus) *corev1.PodCondition {
	if c := Condition(p, kind); c != nil && c.Status == status {
		return c
	}
	return nil
}

// IsReady reports whether the condition Ready is true.
func IsReady(p *corev1.Pod) bool { return ConditionIs(p, corev1.PodReady, corev1.ConditionTrue) != nil }

// Containers yields the statuses of init containers and containers in place, as a status is large: init containers first.
func Containers(p *corev1.Pod) iter.Seq[*corev1.ContainerStatus] {
	return each(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
}

// EveryContainer is Containers with ephemeral containers, which come last. Their ends mean nothing to the pod.
func EveryContainer(s *corev1.PodStatus) iter.Seq[*corev1.ContainerStatus] {
	return each(s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses)
}

func each(lists ...[]corev1.ContainerStatus) iter.Seq[*corev1.ContainerStatus] {
	return func(yield func(*corev1.ContainerStatus) bool) {
		for _, list := range lists {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}
