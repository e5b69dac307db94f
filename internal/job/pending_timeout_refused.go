package job

import (
	"fmt"
	"time"
)

// creationTimedOut fails a Job of which no pod lives, because the server has made none for as long as pods may take to
// start: there is no pod that could be failed.
func creationTimedOut(v view) *Verdict {
	r, timeout := v.CreateFailure, v.annotations.PendingTimeout
	if r == nil || timeout == 0 || v.NamespaceTerminating || suspended(v.job) || v.job.DeletionTimestamp != nil || !noLivingPods(v) {
		return nil
	}
	if r.Last.Sub(r.Since) < timeout {
		return nil
	}
	return failure(PendingTimeoutReason, fmt.Sprintf("No pod could be created for %s: %s", timeout, r.Message))
}

// nextCreateAt is until when the server is not asked for pods. It is asked when the time to start is over, so that the Job
// fails only for what holds then.
func (v *view) nextCreateAt() time.Time {
	r := v.CreateFailure
	if r == nil || v.annotations.PendingTimeout == 0 {
		return v.NextCreateAt
	}
	over := r.Since.Add(v.annotations.PendingTimeout)
	if r.Last.Before(over) && over.Before(v.NextCreateAt) {
		return over
	}
	return v.NextCreateAt
}
