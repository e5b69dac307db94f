package scheduledjob

import (
	"fmt"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/scheduledjob"
)

// The maximum lengths of the lists in the status, so that the object can be stored. The markers in api/stint/v1 must have
// the same.
const (
	maxPendingExecutions   = 200
	maxRunningExecutions   = 1000
	maxCompletedExecutions = 1000
)

// MaxPendingManually is the maximum number of pending runs on demand. The other pending runs are those of the schedule.
const MaxPendingManually = 100

const tagRemedy = "must be lower case letters, digits and hyphens, 15 at most, that begin with a letter (a run on demand), or a due time such as 20260301-120000"

// validateStatus refuses a status from which the controller could not continue. Users may write it too.
func validateStatus(status *stintv1.ScheduledJobStatus, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := sets.New[string]()
	for _, list := range []executionList{
		{"runningExecutions", status.RunningExecutions, stintv1.ExecutionRunning, maxRunningExecutions},
		{"completedExecutions", status.CompletedExecutions, stintv1.ExecutionCompleted, maxCompletedExecutions},
	} {
		errs = append(errs, list.validate(sets.New[string](), p)...)
		for i := range list.executions {
			taken.Insert(list.executions[i].Tag)
		}
	}
	pending := executionList{"pendingExecutions", status.PendingExecutions, stintv1.ExecutionPending, maxPendingExecutions}
	errs = append(errs, pending.validate(taken, p)...)
	if n := PendingManually(status); n > MaxPendingManually {
		errs = append(errs, field.Invalid(p.Child(pending.name), n,
			fmt.Sprintf("no more than %d runs on demand wait at a time: ask again when some have started", MaxPendingManually)))
	}
	if s := status.Schedule; s != nil {
		errs = append(errs, validateObservedSchedule(s, p.Child("schedule"))...)
	}
	errs = append(errs, check.AtLeastZero(&status.ScheduleCount, p.Child("scheduleCount"))...)
	errs = append(errs, check.AtLeastZero(&status.SkippedCount, p.Child("skippedCount"))...)
	return append(errs, metav1validation.ValidateConditions(status.Conditions, p.Child("conditions"))...)
}

func validateObservedSchedule(s *stintv1.ObservedSchedule, p *field.Path) field.ErrorList {
	if s.Since.IsZero() {
		return field.ErrorList{field.Required(p.Child("since"), "due times are computed from it")}
	}
	return nil
}

// PendingManually returns the number of pending runs on demand.
func PendingManually(status *stintv1.ScheduledJobStatus) int {
	n := 0
	for i := range status.PendingExecutions {
		if scheduledjob.ManualTag(status.PendingExecutions[i].Tag) {
			n++
		}
	}
	return n
}

// executionList is one of the three lists of a status.
type executionList struct {
	name       string
	executions []stintv1.Execution
	status     stintv1.ExecutionStatus
	most       int
}

// validate validates the list. Its executions must not have the tags in taken; validate adds their tags to it.
func (l executionList) validate(taken sets.Set[string], p *field.Path) field.ErrorList {
	p = p.Child(l.name)
	if len(l.executions) > l.most {
		return field.ErrorList{field.TooMany(p, len(l.executions), l.most)}
	}
	var errs field.ErrorList
	for i := range l.executions {
		e := &l.executions[i]
		errs = append(errs, validateExecution(e, p.Index(i))...)
		if e.Status != "" && e.Status != l.status {
			errs = append(errs, field.NotSupported(p.Index(i).Child("status"), e.Status, []stintv1.ExecutionStatus{l.status}))
		}
		if taken.Has(e.Tag) {
			errs = append(errs, field.Duplicate(p.Index(i).Child("tag"), e.Tag))
		}
		taken.Insert(e.Tag)
	}
	return errs
}

func validateExecution(e *stintv1.Execution, p *field.Path) field.ErrorList {
	errs := validateTag(e.Tag, p.Child("tag"))
	if e.Trigger != "" && len(errs) == 0 {
		errs = append(errs, validateTrigger(e, p.Child("trigger"))...)
	}
	if e.Overrides != nil {
		errs = append(errs, validateOverrides(e.Overrides, p.Child("overrides"))...)
	}
	return errs
}

func validateTag(tag string, p *field.Path) field.ErrorList {
	switch {
	case tag == "":
		return field.ErrorList{field.Required(p, "name the run")}
	case !scheduledjob.ValidTag(tag):
		return field.ErrorList{field.Invalid(p, tag, tagRemedy)}
	}
	return nil
}

func validateTrigger(e *stintv1.Execution, p *field.Path) field.ErrorList {
	want := stintv1.TriggerSchedule
	if scheduledjob.ManualTag(e.Tag) {
		want = stintv1.TriggerManual
	}
	return check.Supported(e.Trigger, p, want)
}
