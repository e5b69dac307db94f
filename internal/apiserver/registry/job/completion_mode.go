package job

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// The limits of Indexed Jobs. They keep the lists completedIndexes and failedIndexes in the status small enough to be
// stored.
const (
	maxIndexedParallelism = 100_000
	maxFailedIndexes      = 100_000
	// For Jobs with backoffLimitPerIndex and more than manyCompletions the next two limits apply too.
	manyCompletions                    = 100_000
	maxParallelismForManyCompletions   = 10_000
	maxFailedIndexesForManyCompletions = 10_000
)

func isIndexed(spec *batchv1.JobSpec) bool {
	return ptr.Deref(spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
}

func validateCompletionMode(spec *batchv1.JobSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.MaxFailedIndexes != nil && spec.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Required(p.Child("backoffLimitPerIndex"), "maxFailedIndexes needs it"))
	}
	switch ptr.Deref(spec.CompletionMode, batchv1.NonIndexedCompletion) {
	case batchv1.IndexedCompletion:
		errs = append(errs, validateIndexed(spec, p)...)
		errs = append(errs, validateManyCompletions(spec, p)...)
	case batchv1.NonIndexedCompletion:
		errs = append(errs, validateNonIndexed(spec, p)...)
	default:
		errs = append(errs, field.NotSupported(p.Child("completionMode"), *spec.CompletionMode,
			[]batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion}))
	}
	return errs
}

func validateNonIndexed(spec *batchv1.JobSpec, p *field.Path) field.ErrorList {
	const remedy = "set completionMode to Indexed, or remove this field"
	var errs field.ErrorList
	if spec.BackoffLimitPerIndex != nil {
		errs = append(errs, field.Invalid(p.Child("backoffLimitPerIndex"), *spec.BackoffLimitPerIndex, remedy))
	}
	if spec.MaxFailedIndexes != nil {
		errs = append(errs, field.Invalid(p.Child("maxFailedIndexes"), *spec.MaxFailedIndexes, remedy))
	}
	return errs
}

func validateIndexed(spec *batchv1.JobSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.Completions == nil {
		errs = append(errs, field.Required(p.Child("completions"), "an Indexed Job has one index for each completion"))
	}
	if parallelism := ptr.Deref(spec.Parallelism, 0); parallelism > maxIndexedParallelism {
		errs = append(errs, field.Invalid(p.Child("parallelism"), parallelism,
			fmt.Sprintf("must be less than or equal to %d in an Indexed Job", maxIndexedParallelism)))
	}
	if spec.MaxFailedIndexes == nil {
		return errs
	}
	failed, path := *spec.MaxFailedIndexes, p.Child("maxFailedIndexes")
	if spec.Completions != nil && failed > *spec.Completions {
		errs = append(errs, field.Invalid(path, failed, "must be less than or equal to completions"))
	}
	if failed > maxFailedIndexes {
		errs = append(errs, field.Invalid(path, failed, fmt.Sprintf("must be less than or equal to %d", maxFailedIndexes)))
	}
	return errs
}

func validateManyCompletions(spec *batchv1.JobSpec, p *field.Path) field.ErrorList {
	if spec.BackoffLimitPerIndex == nil || ptr.Deref(spec.Completions, 0) <= manyCompletions {
		return nil
	}
	var errs field.ErrorList
	when := fmt.Sprintf("when completions are above %d and backoffLimitPerIndex is set", manyCompletions)
	if spec.MaxFailedIndexes == nil {
		errs = append(errs, field.Required(p.Child("maxFailedIndexes"), when))
	}
	if failed := ptr.Deref(spec.MaxFailedIndexes, 0); failed > maxFailedIndexesForManyCompletions {
		errs = append(errs, field.Invalid(p.Child("maxFailedIndexes"), failed,
			fmt.Sprintf("must be less than or equal to %d %s", maxFailedIndexesForManyCompletions, when)))
	}
	if parallelism := ptr.Deref(spec.Parallelism, 0); parallelism > maxParallelismForManyCompletions {
		errs = append(errs, field.Invalid(p.Child("parallelism"), parallelism,
			fmt.Sprintf("must be less than or equal to %d %s", maxParallelismForManyCompletions, when)))
	}
	return errs
}
