package apiserver

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// unqualifiedFinalizers are the only finalizers that need no domain.
var unqualifiedFinalizers = map[string]bool{
	string(corev1.FinalizerKubernetes): true,
	metav1.FinalizerOrphanDependents:   true,
	metav1.FinalizerDeleteDependents:   true,
}

// validateFinalizerNames requires a domain in finalizers, so that users see which controller removes them. The library
// does not check this.
func validateFinalizerNames(obj runtime.Object) field.ErrorList {
	m, err := meta.Accessor(obj)
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("metadata"), err)}
	}
	var errs field.ErrorList
	for i, name := range m.GetFinalizers() {
		if !unqualifiedFinalizers[name] && !strings.Contains(name, "/") {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "finalizers").Index(i), name,
				"name is neither a standard finalizer name nor is it fully qualified: write DOMAIN/NAME"))
		}
	}
	return errs
}
