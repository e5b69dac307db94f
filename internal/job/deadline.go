package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pastDeadline fails a Job that has been active for spec.activeDeadlineSeconds since it started or was last resumed.
func pastDeadline(v view) *Verdict {
	left, bounded := deadlineLeft(v)
	if !bounded || left > 0 {
		return nil
	}
	return failure(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
}

// untilDeadline returns how long a Job without a verdict has until its deadline, 0 if it has none.
func untilDeadline(v view, end *Verdict) time.Duration {
	left, bounded := deadlineLeft(v)
	if !bounded || end != nil {
		return 0
	}
	return left
}

func deadlineLeft(v view) (left time.Duration, bounded bool) {
	if v.job.Spec.ActiveDeadlineSeconds == nil || v.start == nil || suspended(v.job) {
		return 0, false
	}
	deadline := v.start.Add(time.Duration(*v.job.Spec.ActiveDeadlineSeconds) * time.Second)
	return deadline.Sub(v.Now), true
}

// startTime returns what status.startTime should be: set when the Job starts, set again when it is resumed.
//
// The status with the first start may be stored late or get lost. So the creation of the Job's first pod counts as the
// start if it was earlier.
func (v *view) startTime() *metav1.Time {
	now := metav1.NewTime(v.Now.Truncate(time.Second))
	switch {
	case v.isWaiting():
		return nil
	case suspended(v.job):
		return v.job.Status.StartTime
	case wasSuspended(v.job):
		return &now
	case v.job.Status.StartTime != nil:
		return v.job.Status.StartTime
	}
	start := now
	for _, p := range v.owned {
		if p.CreationTimestamp.Before(&start) && !p.CreationTimestamp.Before(&v.job.CreationTimestamp) {
			start = p.CreationTimestamp
		}
	}
	return &start
}

// earliest returns the shorter of two waits, where 0 means no wait at all.
func earliest(a, b time.Duration) time.Duration {
	if a <= 0 || b <= 0 {
		return max(a, b)
	}
	return min(a, b)
}
