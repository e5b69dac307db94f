package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/podstatus"
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
	if slices.ContainsFunc(p.containers, container.mayRestartAll) {
		list = append(list, p.restartingCondition())
	}
	if p.end != nil && p.end.disruption {
		list = append(list, p.condition(corev1.DisruptionTarget, true, corev1.PodReasonTerminationByKubelet, p.end.message))
	}
	if losses := p.losses(); len(losses) > 0 {
		list = append(list, p.condition(podstatus.LogsIncomplete, true, logWriteFailed, describe(losses)))
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
		if c.incomplete() {
			names = append(names, c.spec.Name)
		}
	}
	return p.condition(corev1.PodInitialized, false, "ContainersNotInitialized",
		fmt.Sprintf("containers with incomplete status: [%s]", strings.Join(names, " ")))
}

// incomplete reports whether the container is an init container that the main ones wait for. A sidecar that has stopped since
// its start is none.
func (c container) incomplete() bool {
	switch c.role {
	case initial:
		return !c.Exited() || c.Last.ExitCode != 0
	case sidecar:
		return c.Last == nil || c.Running() && !c.started()
	}
	return false
}

// initializedOnce is initialized, but stays true for a pod whose sidecars have stopped, or all containers restart.
func (p *plan) initializedOnce() bool {
	for _, c := range p.containers {
		if c.role == main && c.Last != nil {
			return true
		}
	}
	return !slices.ContainsFunc(p.containers, container.incomplete)
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
		if (c.role == main || c.role == sidecar) && !c.ready() {
			unready = append(unready, c.spec.Name)
		}
	}
	if len(unready) > 0 {
		return p.condition(kind, false, "ContainersNotReady",
			fmt.Sprintf("containers with unready status: [%s]", strings.Join(unready, " ")))
	}
	if closed := p.closedGates(); kind == corev1.PodReady && len(closed) > 0 {
		return p.condition(kind, false, "ReadinessGatesNotReady", strings.Join(closed, ", "))
	}
	return p.condition(kind, true, "", "")
}

// closedGates returns, for each readiness gate of the pod whose condition other clients have not set to True, why it is
// closed.
func (p *plan) closedGates() (closed []string) {
	for _, gate := range p.Pod.Spec.ReadinessGates {
		switch c := find(p.Pod.Status.Conditions, gate.ConditionType); {
		case c == nil:
			closed = append(closed, fmt.Sprintf("readiness gate %q is closed: the pod has no such condition", gate.ConditionType))
		case c.Status != corev1.ConditionTrue:
			closed = append(closed, fmt.Sprintf("readiness gate %q is closed: the condition is %s", gate.ConditionType, c.Status))
		}
	}
	return closed
}
