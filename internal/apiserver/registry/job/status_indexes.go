package job

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

var indexRules = []statusRule{
	completedIndexesReadable,
	completedIndexesOnlyIndexed,
	failedIndexesReadable,
	failedIndexesOnlyPerIndex,
	failedIndexesNotCompleted,
}

func completedIndexesReadable(c statusUpdate, p *field.Path) *field.Error {
	if !c.completedIndexesChanged() || c.spec.Completions == nil {
		return nil
	}
	if _, err := parseIndexes(c.current.CompletedIndexes, *c.spec.Completions); err != nil {
		return field.Invalid(p.Child("completedIndexes"), c.current.CompletedIndexes, err.Error())
	}
	return nil
}

func completedIndexesOnlyIndexed(c statusUpdate, p *field.Path) *field.Error {
	if !c.completedIndexesChanged() || c.current.CompletedIndexes == "" || isIndexed(c.spec) {
		return nil
	}
	return field.Invalid(p.Child("completedIndexes"), c.current.CompletedIndexes, "must be empty unless the Job is Indexed")
}

func failedIndexesReadable(c statusUpdate, p *field.Path) *field.Error {
	if !c.failedIndexesChanged() || c.current.FailedIndexes == nil ||
		c.spec.Completions == nil || c.spec.BackoffLimitPerIndex == nil {
		return nil
	}
	if _, err := parseIndexes(*c.current.FailedIndexes, *c.spec.Completions); err != nil {
		return field.Invalid(p.Child("failedIndexes"), *c.current.FailedIndexes, err.Error())
	}
	return nil
}

func failedIndexesOnlyPerIndex(c statusUpdate, p *field.Path) *field.Error {
	if !c.failedIndexesChanged() || c.current.FailedIndexes == nil || c.spec.BackoffLimitPerIndex != nil {
		return nil
	}
	return field.Invalid(p.Child("failedIndexes"), *c.current.FailedIndexes,
		"must not be set unless the Job has a backoffLimitPerIndex")
}

func failedIndexesNotCompleted(c statusUpdate, p *field.Path) *field.Error {
	changed := c.failedIndexesChanged() || c.completedIndexesChanged()
	if !changed || c.current.FailedIndexes == nil || c.spec.Completions == nil {
		return nil
	}
	completed := readableIndexes(c.current.CompletedIndexes, *c.spec.Completions)
	failed := readableIndexes(*c.current.FailedIndexes, *c.spec.Completions)
	if index, both := commonIndex(completed, failed); both {
		return field.Invalid(p.Child("failedIndexes"), *c.current.FailedIndexes,
			fmt.Sprintf("index %d is in completedIndexes too", index))
	}
	return nil
}
