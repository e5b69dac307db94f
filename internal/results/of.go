package results

import (
	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Of returns what is to be remembered of a pod.
func Of(p *corev1.Pod) stintv1.PodResult {
	return stintv1.PodResult{Pod: p.Name, UID: p.UID, Phase: p.Status.Phase}
}
