package job

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// maxManagedByLength is the maximum length of managedBy, the same as of a label value.
const maxManagedByLength = 63

func validateCreate(job *batchv1.Job, o pod.Options) field.ErrorList {
	specPath := field.NewPath("spec")
	errs := ValidateAnnotations(job.Annotations, nil, field.NewPath("metadata", "annotations"))
	errs = append(errs, validateName(job)...)
	errs = append(errs, validateSelector(job, nil, specPath)...)
	errs = append(errs, ValidateSpec(&job.Spec, specPath)...)
	return append(errs, ValidateTemplate(&job.Spec, o, specPath)...)
}

// validateName refuses names that are too long for the label of the pods, or for the host names of an Indexed Job's pods.
func validateName(job *batchv1.Job) field.ErrorList {
	p := field.NewPath("metadata", "name")
	if !ptr.Deref(job.Spec.ManualSelector, false) && len(job.Name) > validation.LabelValueMaxLength {
		return field.ErrorList{field.Invalid(p, job.Name, fmt.Sprintf(
			"must be no more than %d characters: the pods carry it as a label", validation.LabelValueMaxLength))}
	}
	if !isIndexed(&job.Spec) || ptr.Deref(job.Spec.Completions, 0) <= 0 {
		return nil
	}
	longest := fmt.Sprintf("%s-%d", job.Name, *job.Spec.Completions-1)
	if msgs := validation.IsDNS1123Label(longest); len(msgs) > 0 {
		return field.ErrorList{field.Invalid(p, job.Name, fmt.Sprintf(
			"the pods of an Indexed Job have the host names NAME-INDEX, and %q is no DNS label: %s", longest, msgs[0]))}
	}
	return nil
}

// ValidateSpec validates a spec except its selector and pod template.
func ValidateSpec(spec *batchv1.JobSpec, p *field.Path) field.ErrorList {
	errs := validateNumbers(spec, p)
	errs = append(errs, ValidateManagedBy(spec.ManagedBy, p.Child("managedBy"))...)
	errs = append(errs, validateCompletionMode(spec, p)...)
	errs = append(errs, validatePodFailurePolicy(spec, p.Child("podFailurePolicy"))...)
	errs = append(errs, validateSuccessPolicy(spec, p.Child("successPolicy"))...)
	errs = append(errs, validatePodReplacementPolicy(spec, p.Child("podReplacementPolicy"))...)
	if spec.Scheduling != nil {
		errs = append(errs, field.Forbidden(p.Child("scheduling"),
			"scheduling pods as a group is alpha and not served here: remove this field"))
	}
	return errs
}

func validateNumbers(spec *batchv1.JobSpec, p *field.Path) field.ErrorList {
	errs := check.AtLeastZero(spec.Parallelism, p.Child("parallelism"))
	errs = append(errs, check.AtLeastZero(spec.Completions, p.Child("completions"))...)
	errs = append(errs, check.AtLeastZero(spec.ActiveDeadlineSeconds, p.Child("activeDeadlineSeconds"))...)
	errs = append(errs, check.AtLeastZero(spec.BackoffLimit, p.Child("backoffLimit"))...)
	errs = append(errs, check.AtLeastZero(spec.TTLSecondsAfterFinished, p.Child("ttlSecondsAfterFinished"))...)
	errs = append(errs, check.AtLeastZero(spec.BackoffLimitPerIndex, p.Child("backoffLimitPerIndex"))...)
	return append(errs, check.AtLeastZero(spec.MaxFailedIndexes, p.Child("maxFailedIndexes"))...)
}

// ValidateManagedBy validates the name of a Job's controller, if it is set.
func ValidateManagedBy(managedBy *string, p *field.Path) field.ErrorList {
	if managedBy == nil {
		return nil
	}
	if *managedBy == "" {
		return field.ErrorList{field.Required(p, "leave it out, or name a controller as DOMAIN/PATH")}
	}
	errs := validation.IsDomainPrefixedPath(p, *managedBy)
	if len(*managedBy) > maxManagedByLength {
		errs = append(errs, field.TooLong(p, *managedBy, maxManagedByLength))
	}
	return errs
}

func validatePodReplacementPolicy(spec *batchv1.JobSpec, p *field.Path) field.ErrorList {
	if spec.PodReplacementPolicy == nil {
		return nil
	}
	allowed := []batchv1.PodReplacementPolicy{batchv1.Failed, batchv1.TerminatingOrFailed}
	if spec.PodFailurePolicy != nil {
		allowed = allowed[:1]
	}
	if !slices.Contains(allowed, *spec.PodReplacementPolicy) {
		return field.ErrorList{field.NotSupported(p, *spec.PodReplacementPolicy, allowed)}
	}
	return nil
}

// ValidateTemplate validates the pod template by the rules of pods and by those for the pods of Jobs.
func ValidateTemplate(spec *batchv1.JobSpec, o pod.Options, p *field.Path) field.ErrorList {
	errs := pod.ValidateTemplate(&spec.Template, o, p.Child("template"))
	return append(errs, ValidateRestartPolicy(spec, p.Child("template", "spec", "restartPolicy"))...)
}

// ValidateRestartPolicy requires a restart policy with which pods terminate.
func ValidateRestartPolicy(spec *batchv1.JobSpec, p *field.Path) field.ErrorList {
	policy := spec.Template.Spec.RestartPolicy
	switch policy {
	case corev1.RestartPolicyNever:
		return nil
	case corev1.RestartPolicyOnFailure:
		if spec.PodFailurePolicy != nil {
			return field.ErrorList{field.Invalid(p, policy, fmt.Sprintf(
				"must be %q with podFailurePolicy, which applies only to failed pods", corev1.RestartPolicyNever))}
		}
		return nil
	case "", corev1.RestartPolicyAlways:
		// Always is the default for pods, so a Job has to set another policy.
		return field.ErrorList{field.Required(p, fmt.Sprintf("the pods of a Job must terminate: set it to %q or %q",
			corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever))}
	default:
		return field.ErrorList{field.NotSupported(p, policy,
			[]corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever})}
	}
}

// ValidatePosted returns the errors of a Job as the user wrote it. It changes job to the one that the server would store.
func ValidatePosted(job *batchv1.Job, o pod.Options) field.ErrorList {
	job.UID = "generated"
	SetDefaults(job)
	prepareForCreate(job)
	return validateCreate(job, o)
}
