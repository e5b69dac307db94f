package job

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// noIndex is the index of a pod that has none or a bad one.
const noIndex = -1

// HasFinalizer reports whether p carries the tracking finalizer: it is not counted for certain yet.
func HasFinalizer(p *corev1.Pod) bool {
	return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer)
}

// Ended reports whether all containers of p have ended for good.
func Ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// IsRelevant reports whether an observation needs p: it lives, or it is not counted for certain yet.
func IsRelevant(p *corev1.Pod) bool {
	return !Ended(p) || HasFinalizer(p)
}

func ready(p *corev1.Pod) bool {
	c := podCondition(p, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

func podCondition(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// IndexOf returns the completion index of a pod of an Indexed Job, or -1. The host name that the Job controller gave it
// decides, for it cannot be changed: the annotation can, and a pod would end for an index that it has not worked on. Pods
// that others have made may have the annotation alone.
func IndexOf(p *corev1.Pod) int {
	if i, ok := indexOfHostname(p); ok {
		return i
	}
	if i, ok := parseIndex(p.Annotations[batchv1.JobCompletionIndexAnnotation]); ok {
		return i
	}
	return noIndex
}

func indexOfHostname(p *corev1.Pod) (index int, ok bool) {
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil {
		return 0, false
	}
	rest, ok := strings.CutPrefix(p.Spec.Hostname, owner.Name)
	if !ok || !strings.HasPrefix(rest, "-") {
		return 0, false
	}
	return parseIndex(rest[1:])
}
