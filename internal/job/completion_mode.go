package job

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// ModeOf tells how the completions of job are counted.
func ModeOf(job *batchv1.Job) batchv1.CompletionMode {
	return ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion)
}

// IsKnownCompletionMode reports whether the completions of job can be counted. Nobody works on a Job with a mode from another release.
func IsKnownCompletionMode(job *batchv1.Job) bool {
	return ModeOf(job) == batchv1.NonIndexedCompletion || ModeOf(job) == batchv1.IndexedCompletion
}

func (v *view) indexed() bool { return ModeOf(v.job) == batchv1.IndexedCompletion }
