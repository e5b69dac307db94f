package pod

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	core "github.com/stint-dev/stint/internal/job"
)

// ContainersAndImages returns the names and the images of containers for a table, joined by commas.
func ContainersAndImages(containers []corev1.Container) (names, images string) {
	var n, i []string
	for _, c := range containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

// SetTemplateDefaults sets the defaults of a pod template.
func SetTemplateDefaults(t *corev1.PodTemplateSpec) {
	setSpecDefaults(&t.Spec)
}

// ValidateTemplate validates a template by the rules of pods, so that pods can be created from each accepted template.
func ValidateTemplate(t *corev1.PodTemplateSpec, o Options, p *field.Path) field.ErrorList {
	// The paths of errors lack metadata, as in Kubernetes.
	errs := metav1validation.ValidateLabels(t.Labels, p.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, p.Child("annotations"))...)
	errs = append(errs, validateAnnotations(t.Annotations, &t.Spec, p.Child("annotations"))...)
	errs = append(errs, validateSpec(&t.Spec, p.Child("spec"))...)
	errs = append(errs, validateProfileAnnotations(t.Annotations, &t.Spec, p.Child("spec"))...)
	if len(t.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(p.Child("spec", "ephemeralContainers"),
			"cannot be part of a template: add them to a running pod, as kubectl debug does"))
	}
	return append(errs, refuseUnsupported(&t.Spec, o.nodeForTemplate(&t.Spec), p.Child("spec"))...)
}

// WarnTemplate warns about fields and annotations of a valid template that have no effect.
func WarnTemplate(t *corev1.PodTemplateSpec, o Options, p *field.Path) []string {
	annotations := p.Child("metadata", "annotations")
	return slices.Concat(
		warnAnnotations(t.Annotations, &t.Spec, annotations),
		warnAppArmorAnnotations(t.Annotations, &t.Spec, annotations),
		WarnStrayAnnotations(t.Annotations, annotations, "the metadata.annotations of the Job"),
		warnSpec(&t.Spec, p.Child("spec")),
		o.warnMissingClass(&t.Spec, p.Child("spec", "runtimeClassName")),
		warnIgnored(&t.Spec, o.nodeForTemplate(&t.Spec), p.Child("spec")))
}

// WarnStrayAnnotations warns about annotations for Jobs on objects of other kinds, where they have no effect.
func WarnStrayAnnotations(annotations map[string]string, p *field.Path, home string) []string {
	var warnings []string
	for _, key := range core.Annotations() {
		if _, stray := annotations[key]; stray {
			warnings = append(warnings, fmt.Sprintf("%s: this annotation has no effect here: set it in %s", p.Key(key), home))
		}
	}
	return warnings
}
