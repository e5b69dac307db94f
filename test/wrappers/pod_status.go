package wrappers

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Phase sets status.phase.
func (w *PodWrapper) Phase(phase corev1.PodPhase) *PodWrapper {
	w.pod.Status.Phase = phase
	return w
}

// Running sets the phase of a pod that runs.
func (w *PodWrapper) Running() *PodWrapper { return w.Phase(corev1.PodRunning) }

// Exited ends the pod with the exit code of its first container.
func (w *PodWrapper) Exited(code int32, finished metav1.Time) *PodWrapper {
	w.pod.Status.Phase = corev1.PodSucceeded
	if code != 0 {
		w.pod.Status.Phase = corev1.PodFailed
	}
	return w.ContainerStatuses(corev1.ContainerStatus{Name: w.pod.Spec.Containers[0].Name, State: Terminated(code, finished)})
}

// ContainerStatuses are these and no others.
func (w *PodWrapper) ContainerStatuses(statuses ...corev1.ContainerStatus) *PodWrapper {
	w.pod.Status.ContainerStatuses = statuses
	return w
}

// Conditions are these and no others.
func (w *PodWrapper) Conditions(conditions ...corev1.PodCondition) *PodWrapper {
	w.pod.Status.Conditions = conditions
	return w
}

// Terminated is the state of a container that has ended.
func Terminated(code int32, finished metav1.Time) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: finished}}
}

// Waiting is the state of a container that has not started, and why.
func Waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}
