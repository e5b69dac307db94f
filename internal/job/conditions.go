package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// End returns the condition that says how the Job has ended, Complete or Failed; nil if it is not finished.
func End(job *batchv1.Job) *batchv1.JobCondition {
	for _, kind := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if c := condition(job.Status.Conditions, kind); isTrue(c) {
			return c
		}
	}
	return nil
}

// Finished reports whether the Job has ended, and so needs no more decisions.
func Finished(job *batchv1.Job) bool { return End(job) != nil }

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
