package explain

import (
	corev1 "k8s.io/api/core/v1"
)

// neverUnless is what must change for any pod of the Job to run, where nothing but a user changes it; empty otherwise.
func (e *explainer) neverUnless() string {
	remedy, stuck := "", 0
	for _, g := range e.waitingPods() {
		text := e.remedyOf(g)
		if text == "" || e.timeoutOf(g) != nil {
			return "" // its pods may run yet, or are replaced
		}
		if remedy != "" && remedy != text {
			text = "what keeps its pods from starting changes"
		}
		remedy, stuck = text, stuck+len(g.pods)
	}
	if stuck < len(e.Active) {
		return ""
	}
	return remedy
}

// remedyOf is what ends a wait that does not end by itself. On a cluster a node that fits may come; on one machine none
// does.
func (e *explainer) remedyOf(g *podGroup) string {
	switch {
	case g.reason == corev1.PodReasonSchedulingGated:
		return "the scheduling gates of its pods are removed"
	case g.reason == corev1.PodReasonUnschedulable && !e.about.TimesAssumed:
		return "its pods request less or tolerate more, or the node changes"
	case g.reason == "CreateContainerConfigError":
		return "what its pods refer to is made"
	}
	return ""
}
