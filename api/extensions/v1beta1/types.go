package v1beta1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Job runs pods until enough of them have succeeded.
//
// +kubebuilder:object:root=true
type Job struct {
	metav1.TypeMeta `json:",inline"`
	// Standard metadata of every object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// What the Job runs.
	// +optional
	Spec JobSpec `json:"spec,omitempty"`
	// The Job's progress, written by its controller.
	// +optional
	Status batchv1.JobStatus `json:"status,omitempty"`
}

// JobList is a list of Jobs.
//
// +kubebuilder:object:root=true
type JobList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard metadata of every list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// The Jobs.
	Items []Job `json:"items"`
}

// JobSpec describes what a Job runs. The fields are those of batch/v1, except autoSelector.
type JobSpec struct {
	// How many pods may run at a time. Default 1; 0 pauses the Job.
	// +optional
	Parallelism *int32 `json:"parallelism,omitempty"`
	// How many pods have to succeed. If only parallelism is set, the pods share a work queue: after the first success no
	// new pods are created, and the Job is complete when the other pods have terminated too.
	// +optional
	Completions *int32 `json:"completions,omitempty"`
	// After how many seconds the Job fails, counted from its start or from when it was last resumed.
	// +optional
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// What a failed pod means for the Job, by its exit codes and conditions. Needs restartPolicy Never.
	// +optional
	PodFailurePolicy *batchv1.PodFailurePolicy `json:"podFailurePolicy,omitempty"`
	// Which indexes have to succeed for the Job to succeed. Indexed Jobs only.
	// +optional
	SuccessPolicy *batchv1.SuccessPolicy `json:"successPolicy,omitempty"`
	// How many failed pods are replaced before the Job fails. Default 6; no limit if backoffLimitPerIndex is set.
	// +optional
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
	// How many failed pods of an index are replaced before the index fails. Indexed Jobs with restartPolicy Never only.
	// +optional
	BackoffLimitPerIndex *int32 `json:"backoffLimitPerIndex,omitempty"`
	// How many indexes may fail before the Job fails. Needs backoffLimitPerIndex.
	// +optional
	MaxFailedIndexes *int32 `json:"maxFailedIndexes,omitempty"`
	// Which labels select the pods. Default: the labels of the template. With autoSelector it is generated: leave it out.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Whether a selector that no other Job's pods match, and the labels for it, are generated. Default false: then no
	// other pods may have the labels of the template. The opposite of manualSelector in batch/v1.
	// +optional
	AutoSelector *bool `json:"autoSelector,omitempty"`
	// The template of the pods. Its restartPolicy must be Never or OnFailure.
	Template corev1.PodTemplateSpec `json:"template"`
	// After how many seconds the finished Job is deleted. Default: never.
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// NonIndexed (the default): completions pods have to succeed, whichever they are. Indexed: every pod has an index from
	// 0 to completions-1, and each index has to succeed once.
	// +optional
	CompletionMode *batchv1.CompletionMode `json:"completionMode,omitempty"`
	// Whether the Job is suspended: its active pods are deleted, and no new ones are created.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// When a pod is replaced: Failed, when it has terminated, or TerminatingOrFailed, as soon as it is being deleted.
	// +optional
	PodReplacementPolicy *batchv1.PodReplacementPolicy `json:"podReplacementPolicy,omitempty"`
	// Which controller manages the Job, as DOMAIN/PATH. Default: the server's own controller.
	// +optional
	ManagedBy *string `json:"managedBy,omitempty"`
	// How the pods are scheduled as a group.
	// +optional
	Scheduling *batchv1.JobSchedulingConfiguration `json:"scheduling,omitempty"`
}
