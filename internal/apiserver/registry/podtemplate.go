package registry

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
)

// PodTemplate is the kind that keeps a pod template for others to refer to.
func PodTemplate(o Options) Resource {
	return Resource{
		Version:  corev1.SchemeGroupVersion,
		Kind:     "PodTemplate",
		Plural:   "podtemplates",
		Singular: "podtemplate",
		New:      func() runtime.Object { return &corev1.PodTemplate{} },
		NewList:  func() runtime.Object { return &corev1.PodTemplateList{} },
		Default: func(obj runtime.Object) {
			defaultPodTemplateSpec(&obj.(*corev1.PodTemplate).Template)
		},
		PrepareForCreate: func(_ context.Context, obj runtime.Object) {
			obj.(*corev1.PodTemplate).Generation = 1
		},
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validatePodTemplateSpec(&obj.(*corev1.PodTemplate).Template, o, field.NewPath("template"))
		},
		WarningsOnCreate: func(_ context.Context, obj runtime.Object) []string {
			return warnPodTemplateSpec(&obj.(*corev1.PodTemplate).Template, o, field.NewPath("template"))
		},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			t, was := obj.(*corev1.PodTemplate), old.(*corev1.PodTemplate)
			t.Generation = was.Generation
			if !apiequality.Semantic.DeepEqual(t.Template, was.Template) {
				t.Generation++
			}
		},
		ValidateUpdate: func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
			return validatePodTemplateSpec(&obj.(*corev1.PodTemplate).Template, o, field.NewPath("template"))
		},
		WarningsOnUpdate: func(_ context.Context, obj, _ runtime.Object) []string {
			return warnPodTemplateSpec(&obj.(*corev1.PodTemplate).Template, o, field.NewPath("template"))
		},
		Columns: []metav1.TableColumnDefinition{
			nameColumn,
			{Name: "Containers", Type: "string", Description: "Names of each container in the template."},
			{Name: "Images", Type: "string", Description: "Images referenced by each container in the template."},
			{Name: "Pod Labels", Type: "string", Description: "The labels for the pod template."},
		},
		Row: func(obj runtime.Object, _ time.Time) []any {
			t := obj.(*corev1.PodTemplate)
			names, images := containersAndImages(t.Template.Spec.Containers)
			return []any{t.Name, names, images, labels.FormatLabels(t.Template.Labels)}
		},
	}
}

// containersAndImages joins the names and the images for a table.
func containersAndImages(containers []corev1.Container) (names, images string) {
	var n, i []string
	for _, c := range containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

func defaultPodTemplateSpec(t *corev1.PodTemplateSpec) {
	defaultPodSpec(&t.Spec)
}

// validatePodTemplateSpec holds a template to all that a pod of it will be held to, so that what a Job accepts its
// pods can be made of.
func validatePodTemplateSpec(t *corev1.PodTemplateSpec, o Options, p *field.Path) field.ErrorList {
	// The paths leave metadata out, as everywhere in Kubernetes.
	errs := metav1validation.ValidateLabels(t.Labels, p.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, p.Child("annotations"))...)
	errs = append(errs, validatePodAnnotations(t.Annotations, &t.Spec, p.Child("annotations"))...)
	errs = append(errs, validatePodSpec(&t.Spec, p.Child("spec"))...)
	errs = append(errs, validateProfileAnnotations(t.Annotations, &t.Spec, p.Child("spec"))...)
	if len(t.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(p.Child("spec", "ephemeralContainers"),
			"cannot be part of a template: add them to a running pod"))
	}
	return append(errs, refuseWhatNodeCannot(&t.Spec, o.nodeForTemplate(&t.Spec), p.Child("spec"))...)
}

// warnPodTemplateSpec tells what of a valid template will have no effect here.
func warnPodTemplateSpec(t *corev1.PodTemplateSpec, o Options, p *field.Path) []string {
	annotations := p.Child("metadata", "annotations")
	return slices.Concat(
		warnPodAnnotations(t.Annotations, &t.Spec, annotations),
		warnAppArmorAnnotations(t.Annotations, &t.Spec, annotations),
		warnStrayAnnotations(t.Annotations, annotations, "the metadata.annotations of the Job"),
		warnPodSpec(&t.Spec, p.Child("spec")),
		o.warnMissingClass(&t.Spec, p.Child("spec", "runtimeClassName")),
		warnWhatNodeIgnores(&t.Spec, o.nodeForTemplate(&t.Spec), p.Child("spec")))
}
