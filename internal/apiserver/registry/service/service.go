package service

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// Resource describes Services. Their addresses and node ports are given out by Allocate.
func Resource() kinds.Resource {
	return kinds.Resource{
		Version:        corev1.SchemeGroupVersion,
		Kind:           "Service",
		Plural:         "services",
		Singular:       "service",
		ShortNames:     []string{"svc"},
		Categories:     []string{"all"},
		New:            func() runtime.Object { return &corev1.Service{} },
		NewList:        func() runtime.Object { return &corev1.ServiceList{} },
		NameValidation: apivalidation.NameIsDNSLabel,
		SelectableFields: []kinds.SelectableField{
			{Name: "spec.clusterIP", Value: func(obj runtime.Object) string { return obj.(*corev1.Service).Spec.ClusterIP }},
			{Name: "spec.type", Value: func(obj runtime.Object) string { return string(obj.(*corev1.Service).Spec.Type) }},
		},

		Default: func(obj runtime.Object) { setDefaults(&obj.(*corev1.Service).Spec) },
		PrepareForCreate: func(_ context.Context, obj runtime.Object) {
			obj.(*corev1.Service).Status = corev1.ServiceStatus{}
		},
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validate(obj.(*corev1.Service))
		},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			s, was := obj.(*corev1.Service), old.(*corev1.Service)
			s.Status = was.Status
			dropUnneeded(&s.Spec, &was.Spec)
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			return validateUpdate(obj.(*corev1.Service), old.(*corev1.Service))
		},
		WarningsOnCreate: func(_ context.Context, obj runtime.Object) []string { return warn(obj.(*corev1.Service)) },
		WarningsOnUpdate: func(_ context.Context, obj, _ runtime.Object) []string { return warn(obj.(*corev1.Service)) },
		Status: &kinds.Part{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				obj.(*corev1.Service).Spec = old.(*corev1.Service).Spec
			},
			ValidateUpdate: func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
				return validateStatus(obj.(*corev1.Service))
			},
		},
		Columns: columns,
		Row:     row,
	}
}

// IsHeadless reports whether a Service has no address of its own because it asks for none.
func IsHeadless(s *corev1.ServiceSpec) bool {
	return s.ClusterIP == corev1.ClusterIPNone || len(s.ClusterIPs) == 1 && s.ClusterIPs[0] == corev1.ClusterIPNone
}

func isExternalName(s *corev1.ServiceSpec) bool { return s.Type == corev1.ServiceTypeExternalName }

// hasNodePorts reports whether the ports of a Service are ports of the machine too.
func hasNodePorts(s *corev1.ServiceSpec) bool { return s.Type == corev1.ServiceTypeNodePort }
