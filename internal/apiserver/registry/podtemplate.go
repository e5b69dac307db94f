package registry

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// PodTemplate describes PodTemplates, to which ScheduledJobs can refer.
func PodTemplate(o pod.Options) kinds.Resource {
	return kinds.Resource{
		Version:  corev1.SchemeGroupVersion,
		Kind:     "PodTemplate",
		Plural:   "podtemplates",
		Singular: "podtemplate",
		New:      func() runtime.Object { return &corev1.PodTemplate{} },
		NewList:  func() runtime.Object { return &corev1.PodTemplateList{} },
		Default: func(obj runtime.Object) {
			pod.SetTemplateDefaults(&obj.(*corev1.PodTemplate).Template)
		},
		PrepareForCreate: func(_ context.Context, obj runtime.Object) {
			obj.(*corev1.PodTemplate).Generation = 1
		},
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return pod.ValidateTemplate(&obj.(*corev1.PodTemplate).Template, o, field.NewPath("template"))
		},
		WarningsOnCreate: func(_ context.Context, obj runtime.Object) []string {
			return pod.WarnTemplate(&obj.(*corev1.PodTemplate).Template, o, field.NewPath("template"))
		},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			t, was := obj.(*corev1.PodTemplate), old.(*corev1.PodTemplate)
			t.Generation = was.Generation
			if !apiequality.Semantic.DeepEqual(t.Template, was.Template) {
				t.Generation++
			}
		},
		ValidateUpdate: func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
			return pod.ValidateTemplate(&obj.(*corev1.PodTemplate).Template, o, field.NewPath("template"))
		},
		WarningsOnUpdate: func(_ context.Context, obj, _ runtime.Object) []string {
			return pod.WarnTemplate(&obj.(*corev1.PodTemplate).Template, o, field.NewPath("template"))
		},
		Columns: []metav1.TableColumnDefinition{
			kinds.NameColumn,
			{Name: "Containers", Type: "string", Description: "Names of each container in the template."},
			{Name: "Images", Type: "string", Description: "Images referenced by each container in the template."},
			{Name: "Pod Labels", Type: "string", Description: "The labels for the pod template."},
		},
		Row: func(obj runtime.Object, _ time.Time) []any {
			t := obj.(*corev1.PodTemplate)
			names, images := pod.ContainersAndImages(t.Template.Spec.Containers)
			return []any{t.Name, names, images, labels.FormatLabels(t.Template.Labels)}
		},
	}
}
