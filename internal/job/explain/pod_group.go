package explain

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// podGroup is active pods that do not run, all for the same reason.
type podGroup struct {
	reason string
	pods   []*corev1.Pod
	// message is what the first pod says.
	message string
	since   time.Time
	// unplaced pods have no node.
	unplaced bool
	// remedy is what ends a wait that does not end by itself.
	remedy string
	// startBy is when the first of the pods is failed for not having started; zero for never.
	startBy time.Time
}

// askEvents has the group say what the last warning about one of its pods says: of volumes only events tell.
func (g *podGroup) askEvents(list events) {
	for _, p := range g.pods {
		if event := list.last(p.UID, corev1.EventTypeWarning, ""); event != nil {
			g.message = event.Reason + ": " + event.Message
			return
		}
	}
}

// wait tells how many pods the group has, and what one of them says.
func (g *podGroup) wait() stintv1.JobWait {
	w := stintv1.JobWait{For: stintv1.WaitForContainers, What: g.reason, Count: int32(len(g.pods)), Since: timeOrNil(g.since),
		Until: timeOrNil(g.startBy), Message: counted(len(g.pods), "pod")}
	if g.unplaced {
		w.For = stintv1.WaitForCapacity
	}
	if g.message != "" {
		w.Message += ": " + g.message
	}
	w.Message += " (" + g.example() + ")"
	return w
}

func (g *podGroup) example() string {
	if len(g.pods) == 1 {
		return g.pods[0].Name
	}
	return "one is " + g.pods[0].Name
}

// remedy is what ends a wait that does not end by itself. On a cluster a node that fits may come; on one machine none
// does.
func remedy(reason string, cluster bool) string {
	switch {
	case reason == corev1.PodReasonSchedulingGated:
		return "the scheduling gates of its pods are removed"
	case reason == corev1.PodReasonUnschedulable && !cluster:
		return "its pods request less or tolerate more, or the node changes"
	case reason == "CreateContainerConfigError":
		return "the ConfigMaps and Secrets of its pods exist"
	}
	return ""
}
