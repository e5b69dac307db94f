package explain

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// podGroup is a group of active pods that do not run, all for the same reason.
type podGroup struct {
	reason string
	pods   []*corev1.Pod
	// message is that of the first pod.
	message string
	since   time.Time
	// unplaced is set if the first pod has no node.
	unplaced bool
	// remedy is what a user must change to end the wait; empty if it may end by itself.
	remedy string
	// startBy is when the first of the pods is failed for not having started; zero for never.
	startBy time.Time
	// onFullDisk is Circumstances.onFullDisk of the pods.
	onFullDisk string
}

// useLastWarning takes the message of the last warning about one of the pods, if there is one: problems with volumes are
// reported only by events.
func (g *podGroup) useLastWarning(list events) {
	for _, p := range g.pods {
		if event := list.last(p.UID, corev1.EventTypeWarning, ""); event != nil {
			g.message = event.Reason + ": " + event.Message
			return
		}
	}
}

// wait says how many pods the group has, with the message of one of them.
func (g *podGroup) wait() stintv1.JobWait {
	w := stintv1.JobWait{For: stintv1.WaitForContainers, What: g.reason, Count: int32(len(g.pods)), Since: timeOrNil(g.since),
		Until: timeOrNil(g.startBy), Message: counted(len(g.pods), "pod")}
	if g.unplaced {
		w.For = stintv1.WaitForCapacity
	}
	if g.message != "" {
		w.Message += ": " + g.message
	}
	w.Message += " (" + g.example() + ")" + g.onFullDisk
	return w
}

func (g *podGroup) example() string {
	if len(g.pods) == 1 {
		return g.pods[0].Name
	}
	return "one is " + g.pods[0].Name
}

// chooseRemedy returns what a user must change to end a wait that does not end by itself; empty for other waits. On a cluster a
// node that fits may be added; a single machine stays the only node.
func (g *podGroup) chooseRemedy(cluster, needsAreMissing bool) string {
	switch {
	case g.reason == corev1.PodReasonSchedulingGated:
		return "the scheduling gates of its pods are removed"
	case needsAreMissing && g.neverStarted():
		return "the objects that its pods need exist"
	case g.reason == corev1.PodReasonUnschedulable && isAboutClaims(g.message):
		return remedyForClaims(g.message)
	case strings.Contains(g.message, corev1.TaintNodeDiskPressure):
		return "" // Another pod may end and make room.
	case g.reason == corev1.PodReasonUnschedulable && !cluster:
		return "its pods request less or tolerate more, or the node changes"
	case g.reason == "CreateContainerConfigError":
		return "the ConfigMaps and Secrets of its pods exist"
	}
	return ""
}

func (g *podGroup) neverStarted() bool {
	return !slices.ContainsFunc(g.pods, func(p *corev1.Pod) bool { return crashing(p) != nil })
}

// isAboutClaims reports whether a message of the scheduler is about claims or their volumes.
func isAboutClaims(message string) bool {
	return strings.Contains(strings.ToLower(message), "persistentvolume")
}

// transientClaimProblems are in the messages about claims that may end by themselves: when a volume is provisioned, when the
// controller has made the claim, or when another pod ends.
var transientClaimProblems = []string{"unbound immediate", "waiting for ephemeral volume controller", string(corev1.ReadWriteOncePod)}

func remedyForClaims(message string) string {
	if slices.ContainsFunc(transientClaimProblems, func(text string) bool { return strings.Contains(message, text) }) {
		return ""
	}
	return "the PersistentVolumeClaims of its pods can be used"
}
