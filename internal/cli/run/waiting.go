package run

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/podstatus"
)

// waitReason is why a pod does not run yet.
type waitReason struct {
	reason, message string
	// unplaced means that the pod has no node yet; it may be queued.
	unplaced bool
}

// waitReasonOf returns what a pod waits for, nothing while it merely starts.
func waitReasonOf(pod *corev1.Pod) waitReason {
	for status := range podstatus.Containers(pod) {
		if waiting := status.State.Waiting; waiting != nil && !podstatus.IsRoutine(waiting) {
			return waitReason{reason: waiting.Reason, message: waiting.Message}
		}
	}
	if c := podstatus.Unscheduled(pod); c != nil {
		return waitReason{reason: c.Reason, message: c.Message, unplaced: true}
	}
	return waitReason{}
}

// hasRun reports whether a main container of the pod was ever started.
func hasRun(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded {
		return true
	}
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
		ended := status.State.Terminated
		return status.State.Running != nil || status.LastTerminationState.Terminated != nil || status.RestartCount > 0 ||
			(ended != nil && !ended.StartedAt.IsZero())
	})
}

// isOver reports whether a pod is terminated or terminating.
func isOver(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || podstatus.IsTerminated(pod)
}
