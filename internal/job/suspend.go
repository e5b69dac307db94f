package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// HeldAnnotation marks a run of a CronJob that is suspended until other runs have ended. Its value is since when.
const HeldAnnotation = "stint.dev/held-by-concurrency-policy"

// IsHeld reports whether a run waits for other runs, not for a user to resume it.
func IsHeld(job *batchv1.Job) bool {
	_, marked := job.Annotations[HeldAnnotation]
	return marked && suspended(job)
}

func suspended(job *batchv1.Job) bool {
	return job.Spec.Suspend != nil && *job.Spec.Suspend
}

// wasSuspended reports whether the status says that the Job is suspended. It lags behind the spec.
func wasSuspended(job *batchv1.Job) bool {
	return isTrue(condition(job.Status.Conditions, batchv1.JobSuspended))
}

// updateSuspendedCondition updates the status after spec.suspend. A Job that was never suspended gets no condition.
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
