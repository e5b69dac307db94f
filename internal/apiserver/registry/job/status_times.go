package job

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

var timeRules = []statusRule{
	startStaysUnlessSuspended,
	finishedHasStarted,
	completionTimeStays,
	completionTimeOnlyWhenComplete,
	completeHasCompletionTime,
	completionAfterStart,
}

// startStaysUnlessSuspended allows changes of the start time only for Jobs that are suspended or resumed. The active
// deadline counts from the start time: a suspension stops it, and a resume restarts it.
func startStaysUnlessSuspended(c statusUpdate, p *field.Path) *field.Error {
	if c.old.StartTime == nil || !c.startChanged() || ptr.Deref(c.spec.Suspend, false) || c.resumes() {
		return nil
	}
	return field.Invalid(p.Child("startTime"), c.current.StartTime, "must neither change nor go while the Job is not suspended")
}

func finishedHasStarted(c statusUpdate, p *field.Path) *field.Error {
	changed := c.finishedChanged() || c.startChanged()
	nothingToStart := ptr.Deref(c.spec.Suspend, false) && ptr.Deref(c.spec.Completions, 1) == 0
	if !changed || !c.finished() || c.current.StartTime != nil || nothingToStart {
		return nil
	}
	return field.Required(p.Child("startTime"), "a Job that has finished has started")
}

// completionTimeStays refuses another completion time, but not its removal: completeHasCompletionTime requires it for
// complete Jobs.
func completionTimeStays(c statusUpdate, p *field.Path) *field.Error {
	if c.current.CompletionTime == nil || c.old.CompletionTime == nil || !c.completionChanged() {
		return nil
	}
	return field.Invalid(p.Child("completionTime"), c.current.CompletionTime, "must not change once it is set")
}

func completionTimeOnlyWhenComplete(c statusUpdate, p *field.Path) *field.Error {
	changed := c.turns(batchv1.JobComplete) || c.completionChanged()
	if !changed || c.current.CompletionTime == nil || c.has(batchv1.JobComplete) {
		return nil
	}
	return field.Invalid(p.Child("completionTime"), c.current.CompletionTime, "must not be set unless Complete is True")
}

func completeHasCompletionTime(c statusUpdate, p *field.Path) *field.Error {
	changed := c.turns(batchv1.JobComplete) || c.completionChanged()
	if !changed || c.current.CompletionTime != nil || !c.has(batchv1.JobComplete) {
		return nil
	}
	return field.Required(p.Child("completionTime"), "must be set when Complete is True")
}

func completionAfterStart(c statusUpdate, p *field.Path) *field.Error {
	changed := c.startChanged() || c.completionChanged()
	if !changed || c.current.StartTime == nil || c.current.CompletionTime == nil || !c.current.CompletionTime.Before(c.current.StartTime) {
		return nil
	}
	return field.Invalid(p.Child("completionTime"), c.current.CompletionTime, "must not be before startTime")
}
