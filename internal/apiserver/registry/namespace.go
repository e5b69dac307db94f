package registry

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// Namespace describes namespaces. Because of the finalizer in spec, the content of a namespace is deleted before it.
func Namespace() kinds.Resource {
	return kinds.Resource{
		Version:        corev1.SchemeGroupVersion,
		Kind:           "Namespace",
		Plural:         "namespaces",
		Singular:       "namespace",
		ShortNames:     []string{"ns"},
		ClusterScoped:  true,
		New:            func() runtime.Object { return &corev1.Namespace{} },
		NewList:        func() runtime.Object { return &corev1.NamespaceList{} },
		NameValidation: apivalidation.NameIsDNSLabel,

		Default:          func(obj runtime.Object) { labelNamespace(obj.(*corev1.Namespace)) },
		PrepareForCreate: func(_ context.Context, obj runtime.Object) { prepareNamespace(obj.(*corev1.Namespace)) },
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validateNamespaceLabel(obj.(*corev1.Namespace))
		},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			ns, was := obj.(*corev1.Namespace), old.(*corev1.Namespace)
			ns.Spec.Finalizers, ns.Status = was.Spec.Finalizers, was.Status
		},
		ValidateUpdate: func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
			return validateNamespaceLabel(obj.(*corev1.Namespace))
		},
		Status: &kinds.Part{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				obj.(*corev1.Namespace).Spec = old.(*corev1.Namespace).Spec
			},
			ValidateUpdate: func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
				return validateNamespacePhase(obj.(*corev1.Namespace))
			},
		},
		SelectableFields: []kinds.SelectableField{{Name: "status.phase", Value: func(obj runtime.Object) string {
			return string(obj.(*corev1.Namespace).Status.Phase)
		}}},
		Columns: []metav1.TableColumnDefinition{
			kinds.NameColumn,
			{Name: "Status", Type: "string", Description: "The status of the namespace"},
			kinds.AgeColumn,
		},
		Row: func(obj runtime.Object, now time.Time) []any {
			ns := obj.(*corev1.Namespace)
			return []any{ns.Name, string(ns.Status.Phase), kinds.Age(ns.CreationTimestamp, now)}
		},
	}
}

// labelNamespace adds the label with the namespace's name, so that it can be selected by name.
func labelNamespace(ns *corev1.Namespace) {
	if ns.Name == "" {
		return
	}
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[corev1.LabelMetadataName] = ns.Name
}

func prepareNamespace(ns *corev1.Namespace) {
	// Defaults are set before a name is generated, so label it again.
	labelNamespace(ns)
	ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
}

func validateNamespaceLabel(ns *corev1.Namespace) field.ErrorList {
	p := field.NewPath("metadata", "labels").Key(corev1.LabelMetadataName)
	errs := validateNamespaceFinalizers(ns.Spec.Finalizers, field.NewPath("spec", "finalizers"))
	if value := ns.Labels[corev1.LabelMetadataName]; value != ns.Name {
		errs = append(errs, field.Invalid(p, value, "must be equal to the namespace's name"))
	}
	return errs
}

// validateNamespaceFinalizers requires a domain in all finalizers except kubernetes.
func validateNamespaceFinalizers(finalizers []corev1.FinalizerName, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, f := range finalizers {
		if f == corev1.FinalizerKubernetes {
			continue
		}
		errs = append(errs, check.Invalid(p.Index(i), f, validation.IsQualifiedName(string(f)))...)
		if !strings.Contains(string(f), "/") {
			errs = append(errs, field.Invalid(p.Index(i), f, "must be fully qualified, such as example.com/mine"))
		}
	}
	return errs
}

func validateNamespacePhase(ns *corev1.Namespace) field.ErrorList {
	p := field.NewPath("status", "phase")
	switch {
	case ns.DeletionTimestamp.IsZero() && ns.Status.Phase != corev1.NamespaceActive:
		return field.ErrorList{field.Invalid(p, ns.Status.Phase, "may only be 'Active' if `deletionTimestamp` is empty")}
	case !ns.DeletionTimestamp.IsZero() && ns.Status.Phase != corev1.NamespaceTerminating:
		return field.ErrorList{field.Invalid(p, ns.Status.Phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")}
	}
	return nil
}
