package registry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/scheduledjob"
)

// validateOverrides checks what can be checked without the template.
func validateOverrides(o *stintv1.Overrides, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.Container != "" {
		errs = label(o.Container, p.Child("container"))
	}
	errs = append(errs, uniqueVariables(o.Env, p.Child("env"))...)
	return append(errs, validateEnv(o.Env, p.Child("env"))...)
}

// ValidateRun checks what somebody asks to be run now. Template is what the run will be made of; nil where that is not
// known yet.
func ValidateRun(run *stintv1.ScheduledJobRun, template *corev1.PodTemplateSpec) field.ErrorList {
	var errs field.ErrorList
	if run.Tag != "" {
		errs = validateTag(run.Tag, field.NewPath("tag"))
		if len(errs) == 0 && !scheduledjob.ManualTag(run.Tag) {
			errs = field.ErrorList{field.Invalid(field.NewPath("tag"), run.Tag, "is the tag of a scheduled run: begin with a letter")}
		}
	}
	if run.Overrides == nil {
		return errs
	}
	p := field.NewPath("overrides")
	errs = append(errs, validateOverrides(run.Overrides, p)...)
	if name := run.Overrides.Container; name != "" && template != nil && !hasContainer(&template.Spec, name) {
		err := field.NotFound(p.Child("container"), name)
		err.Detail = "the template has " + containerNames(&template.Spec)
		errs = append(errs, err)
	}
	return errs
}

func containerNames(spec *corev1.PodSpec) string {
	names, _ := containersAndImages(spec.Containers)
	return names
}
