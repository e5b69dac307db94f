package ttl

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	jobcore "github.com/stint-dev/stint/internal/job"
)

// Expiry returns when a Job is to be deleted, and false if it is not. The time to live starts at the time in the Job's
// condition, so a clock that was set, or that differs from the one that wrote the condition, changes how long the Job
// stays. A condition without a time, or a negative time to live, never deletes a Job.
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
