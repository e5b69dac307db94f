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

// HasFinalizer reports whether p has the tracking finalizer. If so, it may not be counted yet.
func HasFinalizer(p *corev1.Pod) bool {
	return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer)
}

// IsRelevant reports whether an observation needs p: it has not terminated, or it may not be counted yet.
func IsRelevant(p *corev1.Pod) bool {
	return !podstatus.IsTerminated(p) || HasFinalizer(p)
}

// IndexOf returns the completion index of a pod of an Indexed Job, or -1. It is in the hostname, which the Job controller
// has set and which is immutable. The annotation could be edited, and the pod would then end for an index that it has not
// worked on; it is used only for pods without such a hostname, which other clients created.
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
