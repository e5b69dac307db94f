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

func failedNeverShrinks(c statusChange, p *field.Path) *field.Error {
	if c.now.Failed >= c.was.Failed {
		return nil
	}
	return field.Invalid(p.Child("failed"), c.now.Failed, "must not decrease")
}

// succeededShrinksOnlyWithTheJob: an Indexed Job that is scaled down loses the successes of the indexes it loses.
func succeededShrinksOnlyWithTheJob(c statusChange, p *field.Path) *field.Error {
	elastic := isIndexed(c.spec) && ptr.Equal(c.spec.Completions, c.spec.Parallelism)
	if c.now.Succeeded >= c.was.Succeeded || elastic {
		return nil
	}
	return field.Invalid(p.Child("succeeded"), c.now.Succeeded, "must not decrease")
}

func finishedHasNoActive(c statusChange, p *field.Path) *field.Error {
	changed := c.finishedChanged() || c.now.Active != c.was.Active
	if !changed || !c.finished() || c.now.Active <= 0 {
		return nil
	}
	return field.Invalid(p.Child("active"), c.now.Active, "must be 0 for a Job that has finished")
}

func finishedHasNoTerminating(c statusChange, p *field.Path) *field.Error {
	changed := c.finishedChanged() || !ptr.Equal(c.now.Terminating, c.was.Terminating)
	terminating := ptr.Deref(c.now.Terminating, 0)
	if !changed || !c.finished() || terminating <= 0 {
		return nil
	}
	return field.Invalid(p.Child("terminating"), terminating, "must be 0 for a Job that has finished")
}

func finishedHasNoUncounted(c statusChange, p *field.Path) *field.Error {
	changed := c.finishedChanged() ||
		!equality.Semantic.DeepEqual(c.now.UncountedTerminatedPods, c.was.UncountedTerminatedPods)
	uncounted := ptr.Deref(c.now.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{})
	if !changed || !c.finished() || len(uncounted.Succeeded)+len(uncounted.Failed) == 0 {
		return nil
	}
	return field.Invalid(p.Child("uncountedTerminatedPods"), field.OmitValueType{},
		"must be empty for a Job that has finished: count these pods first")
}

func readyAreActive(c statusChange, p *field.Path) *field.Error {
	changed := c.now.Active != c.was.Active || !ptr.Equal(c.now.Ready, c.was.Ready)
	if !changed || c.now.Ready == nil || *c.now.Ready <= c.now.Active {
		return nil
	}
	return field.Invalid(p.Child("ready"), *c.now.Ready, "must not be greater than active")
}
