// Package v1beta1 converts CronJobs between batch/v1beta1, the version before Kubernetes 1.21, and batch/v1. Both have the
// same fields. Copies are shallow: in and out share all pointers, slices and maps.
package v1beta1

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/api/batch/v1beta1"
)

// FromBatch converts a CronJob to batch/v1beta1.
func FromBatch(in *batchv1.CronJob, out *v1beta1.CronJob) {
	spec := &in.Spec
	*out = v1beta1.CronJob{
		ObjectMeta: in.ObjectMeta,
		Spec: v1beta1.CronJobSpec{
			Schedule:                   spec.Schedule,
			TimeZone:                   spec.TimeZone,
			StartingDeadlineSeconds:    spec.StartingDeadlineSeconds,
			ConcurrencyPolicy:          v1beta1.ConcurrencyPolicy(spec.ConcurrencyPolicy),
			Suspend:                    spec.Suspend,
			JobTemplate:                v1beta1.JobTemplateSpec(spec.JobTemplate),
			SuccessfulJobsHistoryLimit: spec.SuccessfulJobsHistoryLimit,
			FailedJobsHistoryLimit:     spec.FailedJobsHistoryLimit,
		},
		Status: v1beta1.CronJobStatus(in.Status),
	}
}

// ToBatch converts a CronJob to batch/v1.
func ToBatch(in *v1beta1.CronJob, out *batchv1.CronJob) {
	spec := &in.Spec
	*out = batchv1.CronJob{
		ObjectMeta: in.ObjectMeta,
		Spec: batchv1.CronJobSpec{
			Schedule:                   spec.Schedule,
			TimeZone:                   spec.TimeZone,
			StartingDeadlineSeconds:    spec.StartingDeadlineSeconds,
			ConcurrencyPolicy:          batchv1.ConcurrencyPolicy(spec.ConcurrencyPolicy),
			Suspend:                    spec.Suspend,
			JobTemplate:                batchv1.JobTemplateSpec(spec.JobTemplate),
			SuccessfulJobsHistoryLimit: spec.SuccessfulJobsHistoryLimit,
			FailedJobsHistoryLimit:     spec.FailedJobsHistoryLimit,
		},
		Status: batchv1.CronJobStatus(in.Status),
	}
}

// ListFromBatch converts a list to batch/v1beta1.
func ListFromBatch(in *batchv1.CronJobList, out *v1beta1.CronJobList) {
	*out = v1beta1.CronJobList{ListMeta: in.ListMeta, Items: make([]v1beta1.CronJob, len(in.Items))}
	for i := range in.Items {
		FromBatch(&in.Items[i], &out.Items[i])
	}
}

// ListToBatch converts a list to batch/v1.
func ListToBatch(in *v1beta1.CronJobList, out *batchv1.CronJobList) {
	*out = batchv1.CronJobList{ListMeta: in.ListMeta, Items: make([]batchv1.CronJob, len(in.Items))}
	for i := range in.Items {
		ToBatch(&in.Items[i], &out.Items[i])
	}
}
