package job

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// ModeOf returns the completion mode of job, which is NonIndexed by default.
func ModeOf(job *batchv1.Job) batchv1.CompletionMode {
	return ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion)
}

// IsKnownCompletionMode reports whether this release supports the completion mode of job. The controller ignores Jobs with
// another mode.
func IsKnownCompletionMode(job *batchv1.Job) bool {
	return ModeOf(job) == batchv1.NonIndexedCompletion || ModeOf(job) == batchv1.IndexedCompletion
}

func (v *view) indexed() bool { return ModeOf(v.job) == batchv1.IndexedCompletion }
