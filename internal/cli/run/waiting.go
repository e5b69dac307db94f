package run

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// waitReason is why a pod does not run.
type waitReason struct {
	reason, message string
	// unplaced: it has no node yet, which may be a matter of its turn.
	unplaced bool
}

// waitReasonOf tells what a pod waits for; nothing where it is merely being started.
func waitReasonOf(pod *corev1.Pod) waitReason {
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if waiting := status.State.Waiting; waiting != nil && isTold(waiting) {
			return waitReason{reason: waiting.Reason, message: waiting.Message}
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return waitReason{reason: c.Reason, message: c.Message, unplaced: true}
		}
	}
	return waitReason{}
}

// isTold leaves out what every pod goes through: being prepared, as long as nothing is said to be wrong with it.
func isTold(waiting *corev1.ContainerStateWaiting) bool {
	switch waiting.Reason {
	case "":
		return false
	case "ContainerCreating", "PodInitializing":
		return waiting.Message != ""
	}
	return true
}

// hasRun reports whether a container of the pod, other than those that prepare it, was ever started.
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

// isOver reports whether a pod has ended or is made to.
func isOver(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
