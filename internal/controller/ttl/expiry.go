package ttl

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	jobcore "github.com/stint-dev/stint/internal/job"
)

// Expiry tells when a Job is to be deleted, if ever. It counts from what the Job says, not from when that was seen: a
// clock that was set, or differs from the one that wrote the end, makes the Job stay longer or shorter by as much, but
// an end without a time, or a time to live that makes no sense, never deletes it.
func Expiry(job *batchv1.Job) (time.Time, bool) {
	ttl := job.Spec.TTLSecondsAfterFinished
	if ttl == nil || *ttl < 0 || job.DeletionTimestamp != nil {
		return time.Time{}, false
	}
	end := jobcore.End(job)
	if end == nil || end.LastTransitionTime.IsZero() {
		return time.Time{}, false
	}
	return end.LastTransitionTime.Add(time.Duration(*ttl) * time.Second), true
}
