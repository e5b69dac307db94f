package wrappers

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// StartTime sets status.startTime.
func (w *JobWrapper) StartTime(t metav1.Time) *JobWrapper {
	w.job.Status.StartTime = &t
	return w
}

// NoStartTime makes the Job one that has not started, or is suspended.
func (w *JobWrapper) NoStartTime() *JobWrapper {
	w.job.Status.StartTime = nil
	return w
}

// CompletionTime sets status.completionTime.
func (w *JobWrapper) CompletionTime(t metav1.Time) *JobWrapper {
	w.job.Status.CompletionTime = &t
	return w
}

// Condition adds a condition that is true.
func (w *JobWrapper) Condition(kind batchv1.JobConditionType, reason string) *JobWrapper {
	return w.ConditionSince(metav1.Time{}, kind, reason, "")
}

// ConditionSince adds a condition that became true at a time.
func (w *JobWrapper) ConditionSince(t metav1.Time, kind batchv1.JobConditionType, reason, message string) *JobWrapper {
	w.job.Status.Conditions = append(w.job.Status.Conditions, batchv1.JobCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: t})
	return w
}

// Succeeded sets status.succeeded.
func (w *JobWrapper) Succeeded(n int32) *JobWrapper {
	w.job.Status.Succeeded = n
	return w
}

// Failed sets status.failed.
func (w *JobWrapper) Failed(n int32) *JobWrapper {
	w.job.Status.Failed = n
	return w
}

// CompletedIndexes sets status.completedIndexes.
func (w *JobWrapper) CompletedIndexes(indexes string) *JobWrapper {
	w.job.Status.CompletedIndexes = indexes
	return w
}

// FailedIndexes sets status.failedIndexes.
func (w *JobWrapper) FailedIndexes(indexes string) *JobWrapper {
	w.job.Status.FailedIndexes = &indexes
	return w
}

// UncountedSucceeded lists pods that succeeded and are not counted yet.
func (w *JobWrapper) UncountedSucceeded(pods ...types.UID) *JobWrapper {
	w.uncounted().Succeeded = pods
	return w
}

// UncountedFailed lists pods that failed and are not counted yet.
func (w *JobWrapper) UncountedFailed(pods ...types.UID) *JobWrapper {
	w.uncounted().Failed = pods
	return w
}

func (w *JobWrapper) uncounted() *batchv1.UncountedTerminatedPods {
	if w.job.Status.UncountedTerminatedPods == nil {
		w.job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	return w.job.Status.UncountedTerminatedPods
}
