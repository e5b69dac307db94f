package job

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// validateUpdate validates an update, except of the status. It does not validate a spec that does not change: if it was
// accepted under other conditions (another node, another release), its finalizers must still be removable.
func validateUpdate(job, old *batchv1.Job, o pod.Options) field.ErrorList {
	errs := ValidateAnnotations(job.Annotations, old.Annotations, field.NewPath("metadata", "annotations"))
	if equality.Semantic.DeepEqual(job.Spec, old.Spec) && job.UID == old.UID {
		return errs
	}
	p := field.NewPath("spec")
	errs = append(errs, validateName(job)...)
	errs = append(errs, validateSelector(job, old, p)...)
	errs = append(errs, ValidateSpec(&job.Spec, p)...)
	errs = append(errs, ValidateRestartPolicy(&job.Spec, p.Child("template", "spec", "restartPolicy"))...)
	if !equality.Semantic.DeepEqual(job.Spec.Template, old.Spec.Template) {
		errs = append(errs, pod.ValidateTemplate(&job.Spec.Template, o, p.Child("template"))...)
		errs = append(errs, validateTemplateUpdate(&job.Spec.Template, old, p.Child("template"))...)
	}
	return append(errs, validateSpecUpdate(&job.Spec, &old.Spec, p)...)
}

func validateSpecUpdate(spec, old *batchv1.JobSpec, p *field.Path) field.ErrorList {
	errs := validateCompletionsUpdate(spec, old, p.Child("completions"))
	for _, f := range []struct {
		name         string
		current, old any
	}{
		{"selector", spec.Selector, old.Selector},
		{"completionMode", spec.CompletionMode, old.CompletionMode},
		{"podFailurePolicy", spec.PodFailurePolicy, old.PodFailurePolicy},
		{"successPolicy", spec.SuccessPolicy, old.SuccessPolicy},
		{"backoffLimitPerIndex", spec.BackoffLimitPerIndex, old.BackoffLimitPerIndex},
		{"managedBy", spec.ManagedBy, old.ManagedBy},
	} {
		if !equality.Semantic.DeepEqual(f.current, f.old) {
			errs = append(errs, immutable(p.Child(f.name), "create a Job under another name instead, or delete this one first"))
		}
	}
	return errs
}

// validateCompletionsUpdate allows changes of completions only for Indexed Jobs, whose indexes decide which completions are
// added or removed.
func validateCompletionsUpdate(spec, old *batchv1.JobSpec, p *field.Path) field.ErrorList {
	switch {
	case ptr.Equal(spec.Completions, old.Completions):
		return nil
	case !isIndexed(spec):
		return field.ErrorList{immutable(p, "only Indexed Jobs can change it; create a Job under another name instead")}
	case spec.Completions == nil, ptr.Equal(spec.Completions, spec.Parallelism):
		// ValidateSpec reports that an Indexed Job has no completions.
		return nil
	}
	return field.ErrorList{field.Invalid(p, *spec.Completions,
		"can only be changed together with spec.parallelism, both to the same number")}
}

// immutable returns the error for a field that cannot change. It omits the value, because a whole pod template would hide
// the message.
func immutable(p *field.Path, remedy string) *field.Error {
	return field.Invalid(p, field.OmitValueType{}, "field is immutable: "+remedy)
}
