package podgc

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/podstatus"
)

// fail sets the phase Failed. The condition says that the failure is not the pod's own, which pod failure policies ask for.
func fail(p *corev1.Pod, why Reason) {
	if podstatus.IsTerminated(p) {
		return
	}
	p.Status.Phase = corev1.PodFailed
	if why != Orphaned {
		return
	}
	is := corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, ObservedGeneration: p.Generation,
		Reason: "DeletionByPodGC", Message: "The node " + p.Spec.NodeName + " does not exist any more", LastTransitionTime: metav1.Now()}
	if has := podstatus.Condition(p, corev1.DisruptionTarget); has != nil {
		*has = is
		return
	}
	p.Status.Conditions = append(p.Status.Conditions, is)
}
