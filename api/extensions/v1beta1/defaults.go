package v1beta1

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// SetDefaultSelector makes the selector from the template's labels, if spec has no selector and none is to be generated.
func SetDefaultSelector(spec *JobSpec) {
	podLabels := spec.Template.Labels
	if ptr.Deref(spec.AutoSelector, false) || spec.Selector != nil || len(podLabels) == 0 {
		return
	}
	spec.Selector = &metav1.LabelSelector{MatchLabels: maps.Clone(podLabels)}
}
