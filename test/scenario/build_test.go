package scenario_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/wrappers"
)

// aJob is a Job named "job" of one pod that is never restarted; options make it another.
func aJob(options ...func(*batchv1.Job)) *batchv1.Job {
	return wrappers.MakeJob("job").Containers("main").Image("scripted").Command("scripted").With(options...).Obj()
}

func named(name string) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Name = name }
}

// pods sets spec.completions and spec.parallelism.
func pods(completions, parallelism int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.Completions, j.Spec.Parallelism = &completions, &parallelism }
}

// workers makes a work queue: no spec.completions.
func workers(parallelism int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.Parallelism = &parallelism }
}

func indexed(completions, parallelism int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		pods(completions, parallelism)(j)
		j.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	}
}

func backoffLimit(n int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.BackoffLimit = &n }
}

func deadline(seconds int64) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = &seconds }
}

func suspended(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }

// restartsInPlace makes containers restart on failure; the pod is not replaced.
func restartsInPlace(j *batchv1.Job) {
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
}

// replacesEnded makes the Job replace pods once they have ended, and not when they are terminating.
func replacesEnded(j *batchv1.Job) { j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) }
