package podstatus

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// HasStarted reports whether a container runs, or has run before.
func HasStarted(s *corev1.ContainerStatus) bool {
	return s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil || s.RestartCount > 0
}

// AllStarted reports whether all containers of p have started. Main containers start after the init containers.
func AllStarted(p *corev1.Pod) bool {
	for i := range p.Spec.Containers {
		if !slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
			return s.Name == p.Spec.Containers[i].Name && HasStarted(&s)
		}) {
			return false
		}
	}
	return true
}

// InitContainers returns the statuses of the init containers that must terminate before the next container starts:
// all but the sidecars.
func InitContainers(p *corev1.Pod) []corev1.ContainerStatus {
	return initContainers(p, false)
}

// Sidecars returns the statuses of the init containers that run beside the main ones.
func Sidecars(p *corev1.Pod) []corev1.ContainerStatus {
	return initContainers(p, true)
}

func initContainers(p *corev1.Pod, sidecars bool) []corev1.ContainerStatus {
	return slices.DeleteFunc(slices.Clone(p.Status.InitContainerStatuses), func(s corev1.ContainerStatus) bool {
		return isSidecar(p, s.Name) != sidecars
	})
}

func isSidecar(p *corev1.Pod, name string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}
