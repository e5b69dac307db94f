package scheduledjob

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/apiserver/registry/job"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	core "github.com/stint-dev/stint/internal/job"
)

// The limits of a ScheduledJob. The markers in api/stint/v1 must have the same.
const (
	maxPodCount                   = 100_000
	maxCompletedExecutionsHistory = 1000
	maxTagLength                  = 15
)

// validate validates a new ScheduledJob (old is empty) or an updated one. All fields of the spec may change.
func validate(scheduledJob, old *stintv1.ScheduledJob, o pod.Options) field.ErrorList {
	spec, was := &scheduledJob.Spec, &old.Spec
	// Its annotations are copied to its Jobs.
	errs := job.ValidateAnnotations(scheduledJob.Annotations, old.Annotations, core.AnnotationsPath)
	if equality.Semantic.DeepEqual(spec, was) && old.Name != "" {
		return errs
	}
	p := field.NewPath("spec")
	errs = append(errs, validateName(scheduledJob)...)
	errs = append(errs, validateNumbers(spec, p)...)
	errs = append(errs, job.ValidateManagedBy(spec.ManagedBy, p.Child("managedBy"))...)
	if !equality.Semantic.DeepEqual(spec.Schedule, was.Schedule) {
		errs = append(errs, validateSchedule(spec.Schedule, was.Schedule, p.Child("schedule"))...)
	}
	return append(errs, validateRunTemplate(scheduledJob, old, o, p)...)
}

// validateName validates the name. It must leave room for the longest host name of a pod, NAME-TAG-INDEX.
func validateName(scheduledJob *stintv1.ScheduledJob) field.ErrorList {
	p := field.NewPath("metadata", "name")
	name := scheduledJob.Name
	if faults := validation.IsDNS1123Label(name); len(faults) > 0 {
		return field.ErrorList{field.Invalid(p, name, "the host names of the pods begin with it: "+faults[0])}
	}
	lastIndex := max(ptr.Deref(scheduledJob.Spec.PodCount, defaultPodCount)-1, 0)
	room := validation.DNS1123LabelMaxLength - len("-") - maxTagLength - len("-") - len(strconv.Itoa(int(lastIndex)))
	if len(name) > room {
		return field.ErrorList{field.Invalid(p, name, fmt.Sprintf(
			"must be no more than %d characters: the pods have the host names NAME-TAG-INDEX", room))}
	}
	return nil
}

func validateNumbers(spec *stintv1.ScheduledJobSpec, p *field.Path) field.ErrorList {
	errs := check.AtLeastZero(spec.MaxRestart, p.Child("maxRestart"))
	errs = append(errs, check.AtLeastZero(spec.SuccessfulJobsHistoryLimit, p.Child("successfulJobsHistoryLimit"))...)
	errs = append(errs, check.AtLeastZero(spec.FailedJobsHistoryLimit, p.Child("failedJobsHistoryLimit"))...)
	errs = append(errs, between(spec.PodCount, 1, maxPodCount, p.Child("podCount"))...)
	errs = append(errs, between(spec.CompletedExecutionsHistoryLimit, 0, maxCompletedExecutionsHistory,
		p.Child("completedExecutionsHistoryLimit"))...)
	if spec.ExecTimeout != nil && *spec.ExecTimeout < 1 {
		errs = append(errs, field.Invalid(p.Child("execTimeout"), *spec.ExecTimeout,
			"must be at least 1 second: leave it out for no limit"))
	}
	return errs
}

func between(value *int32, least, most int32, p *field.Path) field.ErrorList {
	if value == nil || *value >= least && *value <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(p, *value, fmt.Sprintf("must be from %d to %d", least, most))}
}
