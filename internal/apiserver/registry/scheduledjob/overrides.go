package scheduledjob

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/scheduledjob"
)

// maxOverridesSize is the maximum size of overrides in bytes, so that those of 100 pending runs fit into one object.
const maxOverridesSize = 4096

// validateOverrides validates overrides as far as possible without the template.
func validateOverrides(o *stintv1.Overrides, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.Container != "" {
		errs = check.Label(o.Container, p.Child("container"))
	}
	if text, err := json.Marshal(o); err != nil || len(text) > maxOverridesSize {
		errs = append(errs, field.Invalid(p, fmt.Sprintf("%d bytes", len(text)), fmt.Sprintf(
			"must be no more than %d bytes: put more into a ConfigMap that the template refers to", maxOverridesSize)))
	}
	errs = append(errs, uniqueVariables(o.Env, p.Child("env"))...)
	return append(errs, pod.ValidateEnv(o.Env, p.Child("env"))...)
}

// ValidateRun validates a request for a run. template is the pod template of the run, or nil if it is not known yet.
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
	if name := run.Overrides.Container; name != "" && template != nil && !pod.HasContainer(&template.Spec, name) {
		err := field.NotFound(p.Child("container"), name)
		err.Detail = "the template has " + containerNames(&template.Spec)
		errs = append(errs, err)
	}
	return errs
}

func containerNames(spec *corev1.PodSpec) string {
	var names []string
	for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}
