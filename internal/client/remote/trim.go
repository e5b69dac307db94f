package remote

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/client"
)

// trimMeta removes only managed fields. It keeps the pod template, which the controllers need to create pods.
func trimMeta(obj client.Object) { obj.SetManagedFields(nil) }

// trimPod keeps the fields that decisions about Jobs need. Most pods of a big cluster have a controller that is not a Job:
// of those it keeps only the phase and the metadata without labels and annotations.
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
		Hostname:       pod.Spec.Hostname,
		RestartPolicy:  pod.Spec.RestartPolicy,
		InitContainers: namesOf(pod.Spec.InitContainers),
		Containers:     namesOf(pod.Spec.Containers),
	}
	pod.Status = corev1.PodStatus{
		Phase:                 pod.Status.Phase,
		Conditions:            conditionsOf(&pod.Status),
		Reason:                pod.Status.Reason,
		Message:               pod.Status.Message,
		StartTime:             pod.Status.StartTime,
		InitContainerStatuses: statesOf(pod.Status.InitContainerStatuses),
		ContainerStatuses:     statesOf(pod.Status.ContainerStatuses),
	}
}

// namesOf keeps the name and the restart policy of containers. The restart policy distinguishes sidecars.
func namesOf(containers []corev1.Container) []corev1.Container {
	for i := range containers {
		containers[i] = corev1.Container{Name: containers[i].Name, RestartPolicy: containers[i].RestartPolicy}
	}
	return containers
}

func statesOf(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	for i := range statuses {
		s := &statuses[i]
		*s = corev1.ContainerStatus{
			Name: s.Name, State: s.State, LastTerminationState: s.LastTerminationState,
			Ready: s.Ready, RestartCount: s.RestartCount, Started: s.Started,
		}
	}
	return statuses
}

// conditionsOf keeps only the condition Ready of a pod that has succeeded: it may show when. Most pods of a cluster with Jobs have.
func conditionsOf(status *corev1.PodStatus) []corev1.PodCondition {
	if status.Phase != corev1.PodSucceeded {
		return status.Conditions
	}
	return slices.Clone(slices.DeleteFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type != corev1.PodReady }))
}
