package job

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const defaultBackoffLimit = 6

// pastBackoffLimit fails a Job with more failed pods than spec.backoffLimit, or, where containers restart in place,
// with as many restarts.
func pastBackoffLimit(v view) *Verdict {
	if v.failed <= backoffLimit(v.job) && !pastRestartLimit(v) {
		return nil
	}
	return failure(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
}

func backoffLimit(job *batchv1.Job) int32 {
	switch {
	case job.Spec.BackoffLimit != nil:
		return *job.Spec.BackoffLimit
	case perIndex(job):
		return math.MaxInt32
	default:
		return defaultBackoffLimit
	}
}

// unlimitedFailures is the least backoffLimit that means none: with backoffLimitPerIndex, the default is MaxInt32, and
// users write similarly large numbers.
const unlimitedFailures = 1 << 30

// FailureLimit is how many pods of the Job may fail without failing the Job; nil if only failures per index are limited.
func FailureLimit(job *batchv1.Job) *int32 {
	if limit := backoffLimit(job); limit < unlimitedFailures {
		return &limit
	}
	return nil
}

func pastRestartLimit(v view) bool {
	return v.restartsCount() && v.restarts() >= restartLimit(v.job)
}

// restartsCount reports whether restarts of containers count against the backoff limit.
func (v *view) restartsCount() bool {
	return v.job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
}

// restarts is the number of container restarts in pods that have not terminated.
func (v *view) restarts() int64 {
	n := int64(0)
	for _, p := range v.owned {
		if p.Status.Phase == corev1.PodRunning || p.Status.Phase == corev1.PodPending {
			n += restartsOf(p)
		}
	}
	return n
}

// restartLimit is how many restarts fail a Job: a backoff limit of 0 allows none, a limit of n fails it at the n-th.
func restartLimit(job *batchv1.Job) int64 { return int64(max(backoffLimit(job), 1)) }

func restartsOf(p *corev1.Pod) int64 {
	n := int64(0)
	for i := range p.Status.InitContainerStatuses {
		n += int64(p.Status.InitContainerStatuses[i].RestartCount)
	}
	for i := range p.Status.ContainerStatuses {
		n += int64(p.Status.ContainerStatuses[i].RestartCount)
	}
	return n
}
