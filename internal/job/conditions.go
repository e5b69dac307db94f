package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Finished tells whether the Job has ended, and so needs no more decisions.
func Finished(job *batchv1.Job) bool {
	return isTrue(condition(job.Status.Conditions, batchv1.JobComplete)) ||
		isTrue(condition(job.Status.Conditions, batchv1.JobFailed))
}

func condition(list []batchv1.JobCondition, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range list {
		if list[i].Type == kind {
			return &list[i]
		}
	}
	return nil
}

func isTrue(c *batchv1.JobCondition) bool {
	return c != nil && c.Status == corev1.ConditionTrue
}
