package remote

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/client"
)

// trimMeta leaves the Job's template whole: pods are made of it.
func trimMeta(obj client.Object) { obj.SetManagedFields(nil) }

// trimPod keeps what decisions about Jobs read. On a big cluster most pods belong to something else: of those it keeps
// who they are, whose, and whether they hold a finalizer.
func trimPod(obj client.Object) {
	pod := obj.(*corev1.Pod)
	pod.ManagedFields = nil
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil && owner.Kind != "Job" {
		pod.Labels, pod.Annotations = nil, nil
		pod.Spec = corev1.PodSpec{}
		pod.Status = corev1.PodStatus{Phase: pod.Status.Phase}
		return
	}
	pod.Spec = corev1.PodSpec{
		NodeName:       pod.Spec.NodeName,
		RestartPolicy:  pod.Spec.RestartPolicy,
		InitContainers: namesOf(pod.Spec.InitContainers),
		Containers:     namesOf(pod.Spec.Containers),
	}
	pod.Status = corev1.PodStatus{
		Phase:                 pod.Status.Phase,
		Conditions:            pod.Status.Conditions,
		Reason:                pod.Status.Reason,
		Message:               pod.Status.Message,
		StartTime:             pod.Status.StartTime,
		InitContainerStatuses: statesOf(pod.Status.InitContainerStatuses),
		ContainerStatuses:     statesOf(pod.Status.ContainerStatuses),
	}
}

// namesOf keeps the restart policy too: it tells a sidecar.
func namesOf(containers []corev1.Container) []corev1.Container {
	var out []corev1.Container
	for i := range containers {
		out = append(out, corev1.Container{Name: containers[i].Name, RestartPolicy: containers[i].RestartPolicy})
	}
	return out
}

func statesOf(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for i := range statuses {
		s := &statuses[i]
		out = append(out, corev1.ContainerStatus{
			Name: s.Name, State: s.State, LastTerminationState: s.LastTerminationState,
			Ready: s.Ready, RestartCount: s.RestartCount, Started: s.Started,
		})
	}
	return out
}
