package cronjob

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/apiserver/registry/job"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// maxNameLength leaves room for the suffix of the Jobs' names: a hyphen and the scheduled minute, of ten digits at most.
const maxNameLength = validation.DNS1035LabelMaxLength - 11

var jobTemplatePath = field.NewPath("spec", "jobTemplate")

func validateCreate(cronJob *batchv1.CronJob, o pod.Options) field.ErrorList {
	var errs field.ErrorList
	if len(cronJob.Name) > maxNameLength {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), cronJob.Name,
			fmt.Sprintf("must be no more than %d characters: its Jobs are named after it", maxNameLength)))
	}
	errs = append(errs, validateSpec(&cronJob.Spec, field.NewPath("spec"))...)
	errs = append(errs, ValidateTimeZone(cronJob.Spec.TimeZone, field.NewPath("spec", "timeZone"))...)
	errs = append(errs, job.ValidateAnnotations(cronJob.Spec.JobTemplate.Annotations, nil,
		jobTemplatePath.Child("metadata", "annotations"))...)
	return append(errs, job.ValidateTemplate(&cronJob.Spec.JobTemplate.Spec, o, jobTemplatePath.Child("spec"))...)
}

// validateUpdate validates the time zone and the pod template only if they change, because what is valid depends on this
// process: on the time zones that it knows, and on its node.
func validateUpdate(cronJob, old *batchv1.CronJob, o pod.Options) field.ErrorList {
	if equality.Semantic.DeepEqual(cronJob.Spec, old.Spec) {
		return nil
	}
	errs := validateSpec(&cronJob.Spec, field.NewPath("spec"))
	if !ptr.Equal(cronJob.Spec.TimeZone, old.Spec.TimeZone) {
		errs = append(errs, ValidateTimeZone(cronJob.Spec.TimeZone, field.NewPath("spec", "timeZone"))...)
	}
	template, was := &cronJob.Spec.JobTemplate, &old.Spec.JobTemplate
	errs = append(errs, job.ValidateAnnotations(template.Annotations, was.Annotations,
		jobTemplatePath.Child("metadata", "annotations"))...)
	if equality.Semantic.DeepEqual(template.Spec.Template, was.Spec.Template) {
		path := jobTemplatePath.Child("spec", "template", "spec", "restartPolicy")
		return append(errs, job.ValidateRestartPolicy(&template.Spec, path)...)
	}
	return append(errs, job.ValidateTemplate(&template.Spec, o, jobTemplatePath.Child("spec"))...)
}

// validateSpec validates the spec except the time zone and the pod template.
func validateSpec(spec *batchv1.CronJobSpec, p *field.Path) field.ErrorList {
	errs := validateSchedule(spec.Schedule, p.Child("schedule"))
	errs = append(errs, check.AtLeastZero(spec.StartingDeadlineSeconds, p.Child("startingDeadlineSeconds"))...)
	errs = append(errs, check.OneOf(spec.ConcurrencyPolicy, p.Child("concurrencyPolicy"),
		batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent)...)
	errs = append(errs, check.AtLeastZero(spec.SuccessfulJobsHistoryLimit, p.Child("successfulJobsHistoryLimit"))...)
	errs = append(errs, check.AtLeastZero(spec.FailedJobsHistoryLimit, p.Child("failedJobsHistoryLimit"))...)
	return append(errs, validateTemplate(&spec.JobTemplate.Spec, jobTemplatePath.Child("spec"))...)
}

// validateTemplate validates the spec of the Jobs, and refuses selectors, because all Jobs would have the same.
func validateTemplate(spec *batchv1.JobSpec, p *field.Path) field.ErrorList {
	errs := job.ValidateSpec(spec, p)
	if spec.Selector != nil {
		errs = append(errs, field.Invalid(p.Child("selector"), spec.Selector,
			"leave it out: the selector is generated for each Job"))
	}
	if ptr.Deref(spec.ManualSelector, false) {
		errs = append(errs, field.NotSupported(p.Child("manualSelector"), true, []string{"null", "false"}))
	}
	return errs
}
