package v1beta1

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// FromBatch converts a batch/v1 Job to this version. in and out share pointers, slices and maps.
func FromBatch(in *batchv1.Job, out *Job) {
	spec := &in.Spec
	*out = Job{
		ObjectMeta: in.ObjectMeta,
		Spec: JobSpec{
			Parallelism:             spec.Parallelism,
			Completions:             spec.Completions,
			ActiveDeadlineSeconds:   spec.ActiveDeadlineSeconds,
			PodFailurePolicy:        spec.PodFailurePolicy,
			SuccessPolicy:           spec.SuccessPolicy,
			BackoffLimit:            spec.BackoffLimit,
			BackoffLimitPerIndex:    spec.BackoffLimitPerIndex,
			MaxFailedIndexes:        spec.MaxFailedIndexes,
			Selector:                spec.Selector,
			AutoSelector:            opposite(spec.ManualSelector),
			Template:                spec.Template,
			TTLSecondsAfterFinished: spec.TTLSecondsAfterFinished,
			CompletionMode:          spec.CompletionMode,
			Suspend:                 spec.Suspend,
			PodReplacementPolicy:    spec.PodReplacementPolicy,
			ManagedBy:               spec.ManagedBy,
			Scheduling:              spec.Scheduling,
		},
		Status: in.Status,
	}
	out.ManagedFields = ManagersFromBatch(in.ManagedFields)
}

// ToBatch converts a Job of this version to batch/v1. in and out share pointers, slices and maps.
func ToBatch(in *Job, out *batchv1.Job) {
	spec := &in.Spec
	*out = batchv1.Job{
		ObjectMeta: in.ObjectMeta,
		Spec: batchv1.JobSpec{
			Parallelism:             spec.Parallelism,
			Completions:             spec.Completions,
			ActiveDeadlineSeconds:   spec.ActiveDeadlineSeconds,
			PodFailurePolicy:        spec.PodFailurePolicy,
			SuccessPolicy:           spec.SuccessPolicy,
			BackoffLimit:            spec.BackoffLimit,
			BackoffLimitPerIndex:    spec.BackoffLimitPerIndex,
			MaxFailedIndexes:        spec.MaxFailedIndexes,
			Selector:                spec.Selector,
			ManualSelector:          opposite(spec.AutoSelector),
			Template:                spec.Template,
			TTLSecondsAfterFinished: spec.TTLSecondsAfterFinished,
			CompletionMode:          spec.CompletionMode,
			Suspend:                 spec.Suspend,
			PodReplacementPolicy:    spec.PodReplacementPolicy,
			ManagedBy:               spec.ManagedBy,
			Scheduling:              spec.Scheduling,
		},
		Status: in.Status,
	}
	out.ManagedFields = ManagersToBatch(in.ManagedFields)
}

// opposite converts manualSelector to autoSelector and back. An unset field means false, and false is returned as an
// unset field, so that a client that uses only one version never sees a field that it did not write.
//
//	in       null   false  true
//	out      true   true   null
func opposite(in *bool) *bool {
	if ptr.Deref(in, false) {
		return nil
	}
	return ptr.To(true)
}

// ListFromBatch converts a list of batch/v1 Jobs to this version.
func ListFromBatch(in *batchv1.JobList, out *JobList) {
	*out = JobList{ListMeta: in.ListMeta, Items: make([]Job, len(in.Items))}
	for i := range in.Items {
		FromBatch(&in.Items[i], &out.Items[i])
	}
}

// ListToBatch converts a list of Jobs of this version to batch/v1.
func ListToBatch(in *JobList, out *batchv1.JobList) {
	*out = batchv1.JobList{ListMeta: in.ListMeta, Items: make([]batchv1.Job, len(in.Items))}
	for i := range in.Items {
		ToBatch(&in.Items[i], &out.Items[i])
	}
}

// ManagersFromBatch converts entries of metadata.managedFields from batch/v1 to this version.
func ManagersFromBatch(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	return rename(entries, batchNames, ownNames)
}

// ManagersToBatch converts entries of metadata.managedFields from this version to batch/v1.
func ManagersToBatch(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	return rename(entries, ownNames, batchNames)
}
