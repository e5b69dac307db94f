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

func completedIndexesReadable(c statusChange, p *field.Path) *field.Error {
	if !c.completedIndexesChanged() || c.spec.Completions == nil {
		return nil
	}
	if _, err := parseIndexes(c.now.CompletedIndexes, *c.spec.Completions); err != nil {
		return field.Invalid(p.Child("completedIndexes"), c.now.CompletedIndexes, err.Error())
	}
	return nil
}

func completedIndexesOnlyIndexed(c statusChange, p *field.Path) *field.Error {
	if !c.completedIndexesChanged() || c.now.CompletedIndexes == "" || isIndexed(c.spec) {
		return nil
	}
	return field.Invalid(p.Child("completedIndexes"), c.now.CompletedIndexes, "must be empty unless the Job is Indexed")
}

func failedIndexesReadable(c statusChange, p *field.Path) *field.Error {
	if !c.failedIndexesChanged() || c.now.FailedIndexes == nil ||
		c.spec.Completions == nil || c.spec.BackoffLimitPerIndex == nil {
		return nil
	}
	if _, err := parseIndexes(*c.now.FailedIndexes, *c.spec.Completions); err != nil {
		return field.Invalid(p.Child("failedIndexes"), *c.now.FailedIndexes, err.Error())
	}
	return nil
}

func failedIndexesOnlyPerIndex(c statusChange, p *field.Path) *field.Error {
	if !c.failedIndexesChanged() || c.now.FailedIndexes == nil || c.spec.BackoffLimitPerIndex != nil {
		return nil
	}
	return field.Invalid(p.Child("failedIndexes"), *c.now.FailedIndexes,
		"must not be set unless the Job has a backoffLimitPerIndex")
}

func failedIndexesNotCompleted(c statusChange, p *field.Path) *field.Error {
	changed := c.failedIndexesChanged() || c.completedIndexesChanged()
	if !changed || c.now.FailedIndexes == nil || c.spec.Completions == nil {
		return nil
	}
	completed := readableIndexes(c.now.CompletedIndexes, *c.spec.Completions)
	failed := readableIndexes(*c.now.FailedIndexes, *c.spec.Completions)
	if index, both := commonIndex(completed, failed); both {
		return field.Invalid(p.Child("failedIndexes"), *c.now.FailedIndexes,
			fmt.Sprintf("index %d is in completedIndexes too", index))
	}
	return nil
}
