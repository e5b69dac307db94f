package job

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

var counterRules = []statusRule{
	failedNeverShrinks,
	succeededShrinksOnlyWithTheJob,
	finishedHasNoActive,
	finishedHasNoTerminating,
	finishedHasNoUncounted,
	readyAreActive,
}

func failedNeverShrinks(c statusUpdate, p *field.Path) *field.Error {
	if c.current.Failed >= c.old.Failed {
		return nil
	}
	return field.Invalid(p.Child("failed"), c.current.Failed, "must not decrease")
}

// succeededShrinksOnlyWithTheJob allows a smaller counter only for Indexed Jobs that can be scaled down, because they lose
// the successes of the removed indexes.
func succeededShrinksOnlyWithTheJob(c statusUpdate, p *field.Path) *field.Error {
	elastic := isIndexed(c.spec) && ptr.Equal(c.spec.Completions, c.spec.Parallelism)
	if c.current.Succeeded >= c.old.Succeeded || elastic {
		return nil
	}
	return field.Invalid(p.Child("succeeded"), c.current.Succeeded, "must not decrease")
}

func finishedHasNoActive(c statusUpdate, p *field.Path) *field.Error {
	changed := c.finishedChanged() || c.current.Active != c.old.Active
	if !changed || !c.finished() || c.current.Active <= 0 {
		return nil
	}
	return field.Invalid(p.Child("active"), c.current.Active, "must be 0 for a Job that has finished")
}

func finishedHasNoTerminating(c statusUpdate, p *field.Path) *field.Error {
	changed := c.finishedChanged() || !ptr.Equal(c.current.Terminating, c.old.Terminating)
	terminating := ptr.Deref(c.current.Terminating, 0)
	if !changed || !c.finished() || terminating <= 0 {
		return nil
	}
	return field.Invalid(p.Child("terminating"), terminating, "must be 0 for a Job that has finished")
}

func finishedHasNoUncounted(c statusUpdate, p *field.Path) *field.Error {
	changed := c.finishedChanged() ||
		!equality.Semantic.DeepEqual(c.current.UncountedTerminatedPods, c.old.UncountedTerminatedPods)
	uncounted := ptr.Deref(c.current.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{})
	if !changed || !c.finished() || len(uncounted.Succeeded)+len(uncounted.Failed) == 0 {
		return nil
	}
	return field.Invalid(p.Child("uncountedTerminatedPods"), field.OmitValueType{},
		"must be empty for a Job that has finished: count these pods first")
}

func readyAreActive(c statusUpdate, p *field.Path) *field.Error {
	changed := c.current.Active != c.old.Active || !ptr.Equal(c.current.Ready, c.old.Ready)
	if !changed || c.current.Ready == nil || *c.current.Ready <= c.current.Active {
		return nil
	}
	return field.Invalid(p.Child("ready"), *c.current.Ready, "must not be greater than active")
}
