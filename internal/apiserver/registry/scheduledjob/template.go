package scheduledjob

import (
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/apiserver/registry/job"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// maxMatchLabels limits the size of a selector, because the validation rules of a CustomResourceDefinition have a limited
// cost.
const maxMatchLabels = 64

// validateRunTemplate validates what becomes a part of a run's Job: the template and the selector.
func validateRunTemplate(scheduledJob, old *stintv1.ScheduledJob, o pod.Options, p *field.Path) field.ErrorList {
	spec := &scheduledJob.Spec
	errs := append(validateTemplateSource(spec, p), validateRunSelector(spec, p)...)
	if spec.Template == nil {
		return errs
	}
	errs = append(errs, validateRunLabels(spec.Template.Labels, p.Child("template", "metadata", "labels"))...)
	errs = append(errs, validateUniqueKeys(&spec.Template.Spec, p.Child("template", "spec"))...)
	policy := spec.Template.Spec.RestartPolicy
	if policy != "" && policy != corev1.RestartPolicyNever && policy != corev1.RestartPolicyOnFailure {
		errs = append(errs, field.NotSupported(p.Child("template", "spec", "restartPolicy"), policy,
			[]corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure}))
	}
	was := &old.Spec
	if equality.Semantic.DeepEqual(spec.Template, was.Template) && equality.Semantic.DeepEqual(spec.Selector, was.Selector) {
		return errs // The rest was validated when it was set; it depends on the node.
	}
	return append(errs, validateJobOfRun(scheduledJob, o)...)
}

func validateTemplateSource(spec *stintv1.ScheduledJobSpec, p *field.Path) field.ErrorList {
	ref := p.Child("templateRef")
	switch {
	case spec.Template == nil && spec.TemplateRef == nil:
		return field.ErrorList{field.Required(p.Child("template"), "say what to run: a pod template here, or the name of a PodTemplate in templateRef")}
	case spec.Template != nil && spec.TemplateRef != nil:
		return field.ErrorList{field.Forbidden(ref, "cannot be together with template: remove one of them")}
	case spec.TemplateRef == nil:
		return nil
	case spec.TemplateRef.Name == "":
		return field.ErrorList{field.Required(ref.Child("name"), "name a PodTemplate of this namespace")}
	}
	return check.Subdomain(spec.TemplateRef.Name, ref.Child("name"))
}

// validateRunSelector requires manualSelector for a selector, and a selector for manualSelector.
func validateRunSelector(spec *stintv1.ScheduledJobSpec, p *field.Path) field.ErrorList {
	path, manual := p.Child("selector"), ptr.Deref(spec.ManualSelector, false)
	switch {
	case spec.Selector == nil && !manual:
		return nil
	case spec.Selector == nil:
		return field.ErrorList{field.Required(path, "manualSelector needs a selector that matches the labels of the template: write one, or leave manualSelector out")}
	case !manual:
		return field.ErrorList{field.Invalid(path, spec.Selector, "the selector is generated for every run: leave it out, "+
			"or set manualSelector to true if runs shall select pods by labels of your own")}
	}
	errs := metav1validation.ValidateLabelSelector(spec.Selector, metav1validation.LabelSelectorValidationOptions{}, path)
	if len(spec.Selector.MatchLabels) > maxMatchLabels {
		errs = append(errs, field.TooMany(path.Child("matchLabels"), len(spec.Selector.MatchLabels), maxMatchLabels))
	}
	return append(errs, validateRunLabels(spec.Selector.MatchLabels, path.Child("matchLabels"))...)
}

func validateRunLabels(labels map[string]string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range []string{stintv1.LabelJobName, stintv1.LabelJobTag} {
		if value, ok := labels[key]; ok {
			errs = append(errs, field.Invalid(p.Key(key), value, "leave this label out: every run gets its own"))
		}
	}
	return errs
}

// validateJobOfRun validates the Job of a run, so that runs can be created. validateRunSelector has validated the selector.
func validateJobOfRun(scheduledJob *stintv1.ScheduledJob, o pod.Options) field.ErrorList {
	return slices.DeleteFunc(job.ValidatePosted(jobAsWritten(scheduledJob), o), func(err *field.Error) bool {
		return strings.HasPrefix(err.Field, "spec.selector")
	})
}

// jobAsWritten returns the Job of a run without the controller's additions to the template, so that the paths in errors
// are those of the ScheduledJob. It leaves out the name, annotations and numbers, which validate checks itself.
func jobAsWritten(scheduledJob *stintv1.ScheduledJob) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "run"},
		Spec: batchv1.JobSpec{
			Template: *scheduledJob.Spec.Template.DeepCopy(),
		},
	}
	if selector := scheduledJob.Spec.Selector; selector != nil && ptr.Deref(scheduledJob.Spec.ManualSelector, false) {
		job.Spec.ManualSelector, job.Spec.Selector = ptr.To(true), selector.DeepCopy()
	}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return job
}

func warn(scheduledJob *stintv1.ScheduledJob, o pod.Options, now time.Time) []string {
	p := field.NewPath("spec")
	warnings := warnSchedule(&scheduledJob.Spec, now, p.Child("schedule"))
	if scheduledJob.Spec.Template == nil {
		return warnings
	}
	written := jobAsWritten(scheduledJob)
	job.SetDefaults(written)
	return append(warnings, pod.WarnTemplate(&written.Spec.Template, o, p.Child("template"))...)
}
