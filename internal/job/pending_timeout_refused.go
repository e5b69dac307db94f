package job

import (
	"fmt"
	"time"
)

// creationTimedOut fails a Job without living pods if the API server has refused to create any for the whole pending
// timeout. There is no pod that could be failed instead.
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

// nextCreateAt is when pods may be created again. One try is made when the pending timeout is over, so that the Job fails
// only if pods are still refused then.
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
