package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/podstatus"
)

// runs reports whether p is running and none of its containers waits.
func runs(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodRunning && crashing(p) == nil && !slices.ContainsFunc(p.Status.ContainerStatuses,
		func(s corev1.ContainerStatus) bool { return s.State.Waiting != nil })
}

// crashing returns the container of p that waits to be started again.
func crashing(p *corev1.Pod) *corev1.ContainerStatus {
	for s := range podstatus.Containers(p) {
		if s.State.Waiting != nil && podstatus.HasStarted(s) {
			return s
		}
	}
	return nil
}

// waitingReason returns what p waits for: a reason of the API, and a message if there is one.
func waitingReason(p *corev1.Pod) (reason, message string) {
	c := crashing(p)
	if c == nil {
		return podstatus.WaitingReason(p)
	}
	message = fmt.Sprintf("container %s was restarted %d times", c.Name, c.RestartCount)
	if c.RestartCount == 1 {
		message = fmt.Sprintf("container %s was restarted once", c.Name)
	}
	if end := c.LastTerminationState.Terminated; end != nil {
		message += ", " + lastEnd(end)
	}
	return cmp.Or(c.State.Waiting.Reason, "Waiting"), message
}

// lastEnd describes how a container ended, with the reason where the exit code alone says too little.
func lastEnd(end *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("last exit code %d", end.ExitCode)
	switch end.Reason {
	case "", "Completed", "Error":
		return text
	case "StartError", "ContainerCannotRun":
		return fmt.Sprintf("%s (%s): %s", text, end.Reason, end.Message)
	}
	return fmt.Sprintf("%s (%s)", text, end.Reason)
}

// isRoutine reports whether every pod passes through this waiting reason on its way to start, and the message says nothing
// of a problem.
func isRoutine(reason, message string) bool {
	switch reason {
	case "ContainerCreating", "PodInitializing", "Pending", "":
		return !strings.Contains(message, ": ")
	}
	return false
}

// waitingSince is the last transition of the condition PodScheduled or, without that, when p was created.
func waitingSince(p *corev1.Pod) time.Time {
	if c := podstatus.Condition(p, corev1.PodScheduled); c != nil && !c.LastTransitionTime.IsZero() {
		return c.LastTransitionTime.Time
	}
	return p.CreationTimestamp.Time
}
