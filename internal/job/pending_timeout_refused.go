package job

import (
	"fmt"
	"time"
)

// refusedTooLong fails a Job of which no pod lives, because the server has made none for as long as pods may take to
// start: there is no pod that could be failed.
func refusedTooLong(v view) *Verdict {
	r, timeout := v.Refused, v.asked.PendingTimeout
	if r == nil || timeout == 0 || v.NoMorePods || suspended(v.job) || v.job.DeletionTimestamp != nil || !quiet(v) {
		return nil
	}
	if r.Last.Sub(r.Since) < timeout {
		return nil
	}
	return failure(PendingTimeoutReason, fmt.Sprintf("No pod could be created for %s: %s", timeout, r.Message))
}

// nextTry is until when the server is not asked for pods. It is asked when the time to start is over, so that the Job
// fails only for what holds then.
func (v *view) nextTry() time.Time {
	r := v.Refused
	if r == nil || v.asked.PendingTimeout == 0 {
		return v.NoPodsBefore
	}
	over := r.Since.Add(v.asked.PendingTimeout)
	if r.Last.Before(over) && over.Before(v.NoPodsBefore) {
		return over
	}
	return v.NoPodsBefore
}
