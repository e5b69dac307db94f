package podlog

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/podstatus"
)

// attempt names one start of one container: each has a log of its own.
type attempt struct {
	pod       types.UID
	container string
	number    int32
}

// endedIn reports whether the pod's status says that the attempt has ended.
func (a attempt) endedIn(pod *corev1.Pod) bool {
	if podstatus.IsTerminated(pod) {
		return true
	}
	for s := range podstatus.Containers(pod) {
		if s.Name == a.container {
			return s.RestartCount > a.number || s.State.Running == nil
		}
	}
	return false
}

// readable lists the attempts of a container whose logs can be asked for: the current one once it has started, and
// the one before.
func readable(pod *corev1.Pod, s *corev1.ContainerStatus) []attempt {
	var out []attempt
	if s.RestartCount > 0 && s.LastTerminationState.Terminated != nil {
		out = append(out, attempt{pod.UID, s.Name, s.RestartCount - 1})
	}
	if s.State.Running != nil || s.State.Terminated != nil {
		out = append(out, attempt{pod.UID, s.Name, s.RestartCount})
	}
	return out
}

// restarts is a container's restart count, or -1 where the pod has no such container.
func restarts(pod *corev1.Pod, container string) int32 {
	for s := range podstatus.Containers(pod) {
		if s.Name == container {
			return s.RestartCount
		}
	}
	return -1
}

func containerCount(pod *corev1.Pod) int {
	return len(pod.Spec.InitContainers) + len(pod.Spec.Containers)
}
