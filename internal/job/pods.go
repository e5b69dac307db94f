package job

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/podstatus"
)

// noIndex is the index of a pod that has none or a bad one.
const noIndex = -1

// HasFinalizer reports whether p carries the tracking finalizer: it is not counted for certain yet.
func HasFinalizer(p *corev1.Pod) bool {
	return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer)
}

// IsRelevant reports whether an observation needs p: it lives, or it is not counted for certain yet.
func IsRelevant(p *corev1.Pod) bool {
	return !podstatus.IsTerminated(p) || HasFinalizer(p)
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
