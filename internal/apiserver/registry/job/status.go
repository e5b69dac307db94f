package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// statusUpdate is an update of a Job's status. The spec does not change.
type statusUpdate struct {
	spec         *batchv1.JobSpec
	current, old *batchv1.JobStatus
}

// statusRule returns the error of an update, or nil.
type statusRule func(c statusUpdate, status *field.Path) *field.Error

// statusRules are the rules between the fields of a status. Most rules check only changes of their own fields. Errors that
// are already stored, or are caused by an update of the spec, must not keep the controller from updating the other fields.
var statusRules = slices.Concat(conditionRules, counterRules, timeRules, indexRules)

func validateStatusUpdate(job, old *batchv1.Job) field.ErrorList {
	p := field.NewPath("status")
	errs := ValidateAnnotations(job.Annotations, old.Annotations, field.NewPath("metadata", "annotations"))
	errs = append(errs, validateStatusNumbers(&job.Status, p)...)
	errs = append(errs, validateUncounted(job.Status.UncountedTerminatedPods, p.Child("uncountedTerminatedPods"))...)
	change := statusUpdate{spec: &job.Spec, current: &job.Status, old: &old.Status}
	for _, rule := range statusRules {
		if err := rule(change, p); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func validateStatusNumbers(status *batchv1.JobStatus, p *field.Path) field.ErrorList {
	errs := check.AtLeastZero(&status.Active, p.Child("active"))
	errs = append(errs, check.AtLeastZero(&status.Succeeded, p.Child("succeeded"))...)
	errs = append(errs, check.AtLeastZero(&status.Failed, p.Child("failed"))...)
	errs = append(errs, check.AtLeastZero(status.Ready, p.Child("ready"))...)
	return append(errs, check.AtLeastZero(status.Terminating, p.Child("terminating"))...)
}

// validateUncounted refuses pods that are in the lists twice, because they would be counted twice.
func validateUncounted(uncounted *batchv1.UncountedTerminatedPods, p *field.Path) field.ErrorList {
	if uncounted == nil {
		return nil
	}
	seen := map[types.UID]bool{}
	check := func(uids []types.UID, p *field.Path) (errs field.ErrorList) {
		for i, uid := range uids {
			switch {
			case uid == "":
				errs = append(errs, field.Invalid(p.Index(i), uid, "must not be empty"))
			case seen[uid]:
				errs = append(errs, field.Duplicate(p.Index(i), uid))
			}
			seen[uid] = true
		}
		return errs
	}
	return append(check(uncounted.Succeeded, p.Child("succeeded")), check(uncounted.Failed, p.Child("failed"))...)
}

// hasCondition reports whether the condition exists and is True.
func hasCondition(status *batchv1.JobStatus, kind batchv1.JobConditionType) bool {
	return slices.ContainsFunc(status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
}

func isFinished(status *batchv1.JobStatus) bool {
	return hasCondition(status, batchv1.JobComplete) || hasCondition(status, batchv1.JobFailed)
}

// has reports whether the condition is True after the update.
func (c statusUpdate) has(kind batchv1.JobConditionType) bool { return hasCondition(c.current, kind) }

// had reports whether the condition was True before the update.
func (c statusUpdate) had(kind batchv1.JobConditionType) bool { return hasCondition(c.old, kind) }

// turns reports whether the update changes one of the conditions to or from True.
func (c statusUpdate) turns(kinds ...batchv1.JobConditionType) bool {
	return slices.ContainsFunc(kinds, func(kind batchv1.JobConditionType) bool { return c.has(kind) != c.had(kind) })
}

// resumes reports whether the update changes the condition Suspended from True to False.
func (c statusUpdate) resumes() bool {
	return c.had(batchv1.JobSuspended) && slices.ContainsFunc(c.current.Conditions, func(n batchv1.JobCondition) bool {
		return n.Type == batchv1.JobSuspended && n.Status == corev1.ConditionFalse
	})
}

func (c statusUpdate) finished() bool        { return isFinished(c.current) }
func (c statusUpdate) finishedChanged() bool { return isFinished(c.current) != isFinished(c.old) }

func (c statusUpdate) startChanged() bool { return !c.current.StartTime.Equal(c.old.StartTime) }
func (c statusUpdate) completionChanged() bool {
	return !c.current.CompletionTime.Equal(c.old.CompletionTime)
}

func (c statusUpdate) completedIndexesChanged() bool {
	return c.current.CompletedIndexes != c.old.CompletedIndexes
}
func (c statusUpdate) failedIndexesChanged() bool {
	return !ptr.Equal(c.current.FailedIndexes, c.old.FailedIndexes)
}
