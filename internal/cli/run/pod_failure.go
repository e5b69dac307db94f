package run

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/cli/output"
)

// podFailure describes how a pod failed.
func podFailure(job output.Job, pod *corev1.Pod) output.PodFailure {
	f := output.PodFailure{Job: job, Pod: pod.Name, Reason: pod.Status.Reason, Message: strings.TrimSpace(pod.Status.Message)}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		ended := status.State.Terminated
		if ended == nil || (ended.ExitCode == 0 && ended.Signal == 0) {
			continue
		}
		f.Containers = append(f.Containers, output.ContainerFailure{Name: status.Name, ExitCode: ended.ExitCode,
			Signal: ended.Signal, Reason: ended.Reason, Message: ended.Message})
	}
	return f
}
