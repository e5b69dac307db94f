package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// HeldAnnotation marks a run of a CronJob that waits, suspended, for other runs, and says since when.
const HeldAnnotation = "stint.dev/held-by-concurrency-policy"

// IsHeld reports whether a run waits for others, not for a person to resume it.
func IsHeld(job *batchv1.Job) bool {
	_, marked := job.Annotations[HeldAnnotation]
	return marked && suspended(job)
}

func suspended(job *batchv1.Job) bool {
	return job.Spec.Suspend != nil && *job.Spec.Suspend
}

// wasSuspended tells what the status says, which lags behind the spec.
func wasSuspended(job *batchv1.Job) bool {
	return isTrue(condition(job.Status.Conditions, batchv1.JobSuspended))
}

// updateSuspendedCondition brings the status in line with spec.suspend. A Job that was never suspended gets no condition.
//
//	spec.suspend   Suspended=   then
//	true           not True     Suspended=True,  startTime cleared
//	false          True         Suspended=False, startTime set to now (view.startTime)
func (s *statusDraft) updateSuspendedCondition(v view) {
	switch {
	case suspended(v.job) && !wasSuspended(v.job):
		s.set(batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended")
		s.status.StartTime = nil
		s.event(corev1.EventTypeNormal, "Suspended", "Job suspended")
	case !suspended(v.job) && wasSuspended(v.job):
		s.set(batchv1.JobSuspended, corev1.ConditionFalse, "JobResumed", "Job resumed")
		s.event(corev1.EventTypeNormal, "Resumed", "Job resumed")
	}
}
