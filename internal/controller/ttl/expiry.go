package ttl

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Expiry tells when a Job is to be deleted, if ever. It counts from what the Job says, not from when that was seen: a
// clock that was set, or differs from the one that wrote the end, makes the Job stay longer or shorter by as much, but
// an end without a time, or a time to live that makes no sense, never deletes it.
func Expiry(job *batchv1.Job) (time.Time, bool) {
	ttl := job.Spec.TTLSecondsAfterFinished
	if ttl == nil || *ttl < 0 || job.DeletionTimestamp != nil {
		return time.Time{}, false
	}
	end := finished(job)
	return end.Add(time.Duration(*ttl) * time.Second), !end.IsZero()
}

// finished is when a Job ended; the zero time if it has not, or does not tell.
func finished(job *batchv1.Job) time.Time {
	for _, c := range job.Status.Conditions {
		ended := c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed
		if ended && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}
