package lifecycle

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// conditions returns the conditions that the node writes, without times: Merge sets those.
func (p *plan) conditions() []corev1.PodCondition {
	list := []corev1.PodCondition{
		p.condition(corev1.PodScheduled, true, "", ""),
		p.condition(corev1.PodReadyToStartContainers, !p.Ended, "", ""),
		p.initializedCondition(),
		p.readyCondition(corev1.ContainersReady),
		p.readyCondition(corev1.PodReady),
	}
	if p.end != nil && p.end.disruption {
		list = append(list, p.condition(corev1.DisruptionTarget, true, corev1.PodReasonTerminationByKubelet, p.end.message))
	}
	return list
}

func (p *plan) condition(kind corev1.PodConditionType, is bool, reason, message string) corev1.PodCondition {
	c := corev1.PodCondition{
		Type:               kind,
		Status:             corev1.ConditionFalse,
		Reason:             reason,
		Message:            message,
		ObservedGeneration: p.Pod.Generation,
	}
	if is {
		c.Status = corev1.ConditionTrue
	}
	return c
}

func (p *plan) initializedCondition() corev1.PodCondition {
	if p.Status.Phase == corev1.PodSucceeded {
		return p.condition(corev1.PodInitialized, true, "PodCompleted", "")
	}
	if p.initializedOnce() {
		return p.condition(corev1.PodInitialized, true, "", "")
	}
	var names []string
	for _, c := range p.containers {
		incomplete := c.role == initial && !(c.Exited() && c.Last.ExitCode == 0)
		if incomplete || c.role == sidecar && c.Last == nil {
			names = append(names, c.spec.Name)
		}
	}
	return p.condition(corev1.PodInitialized, false, "ContainersNotInitialized",
		fmt.Sprintf("containers with incomplete status: [%s]", strings.Join(names, " ")))
}

// initializedOnce is initialized, but stays true for a pod whose sidecars have stopped since.
func (p *plan) initializedOnce() bool {
	for _, c := range p.containers {
		if c.role == main && c.Last != nil {
			return true
		}
	}
	for _, c := range p.containers {
		if c.role == initial && !(c.Exited() && c.Last.ExitCode == 0) || c.role == sidecar && c.Last == nil {
			return false
		}
	}
	return true
}

func (p *plan) readyCondition(kind corev1.PodConditionType) corev1.PodCondition {
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		return p.condition(kind, false, "PodCompleted", "")
	case corev1.PodFailed:
		return p.condition(kind, false, "PodFailed", "")
	}
	var unready []string
	for _, c := range p.containers {
		if (c.role == main || c.role == sidecar) && !c.Running() {
			unready = append(unready, c.spec.Name)
		}
	}
	if len(unready) == 0 {
		return p.condition(kind, true, "", "")
	}
	return p.condition(kind, false, "ContainersNotReady",
		fmt.Sprintf("containers with unready status: [%s]", strings.Join(unready, " ")))
}
