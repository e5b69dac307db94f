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
	// What the Job is to do.
	// +optional
	Spec JobSpec `json:"spec,omitempty"`
	// How far it has come. Written by its controller.
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

// JobSpec says what a Job is to do. The fields are batch/v1's, but for autoSelector.
type JobSpec struct {
	// How many pods may run at a time. 1 where nothing is said; 0 pauses the Job.
	// +optional
	Parallelism *int32 `json:"parallelism,omitempty"`
	// How many pods have to succeed. Where only parallelism is given, the pods share a queue of work: one success
	// ends the queue, and the Job is complete when the others have ended too.
	// +optional
	Completions *int32 `json:"completions,omitempty"`
	// After how many seconds the Job is given up, counted from its start or from when it was last resumed.
	// +optional
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// What a failed pod means for the Job, by its exit codes and conditions. Needs restartPolicy Never.
	// +optional
	PodFailurePolicy *batchv1.PodFailurePolicy `json:"podFailurePolicy,omitempty"`
	// Which successes are enough. Indexed Jobs only.
	// +optional
	SuccessPolicy *batchv1.SuccessPolicy `json:"successPolicy,omitempty"`
	// How many failures the Job survives. 6 where nothing is said, without limit beside backoffLimitPerIndex.
	// +optional
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
	// How many failures each index survives. Indexed Jobs with restartPolicy Never only.
	// +optional
	BackoffLimitPerIndex *int32 `json:"backoffLimitPerIndex,omitempty"`
	// How many failed indexes the Job survives. Needs backoffLimitPerIndex.
	// +optional
	MaxFailedIndexes *int32 `json:"maxFailedIndexes,omitempty"`
	// By which labels the pods are selected. Where it is left out it is made from the labels of the template, or,
	// with autoSelector, generated: then leave it out.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Whether a selector is generated that no other Job's pods match, and the labels for it. False where nothing is
	// said: then the labels of the template are to be this Job's alone. The opposite of manualSelector in batch/v1.
	// +optional
	AutoSelector *bool `json:"autoSelector,omitempty"`
	// What the pods are like. Their restartPolicy is Never or OnFailure.
	Template corev1.PodTemplateSpec `json:"template"`
	// After how many seconds the finished Job is deleted. Never where nothing is said.
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// NonIndexed, where one success is as good as another, or Indexed, where every pod has an index from 0 to
	// completions-1 and each index has to succeed once. NonIndexed where nothing is said.
	// +optional
	CompletionMode *batchv1.CompletionMode `json:"completionMode,omitempty"`
	// Whether the Job waits, without pods. Those that run are ended.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// When a pod is replaced: Failed, once it has ended, or TerminatingOrFailed, once it is told to end.
	// +optional
	PodReplacementPolicy *batchv1.PodReplacementPolicy `json:"podReplacementPolicy,omitempty"`
	// Which controller has the Job in its care, DOMAIN/PATH. The server's own where nothing is said.
	// +optional
	ManagedBy *string `json:"managedBy,omitempty"`
	// How the pods are scheduled as a group.
	// +optional
	Scheduling *batchv1.JobSchedulingConfiguration `json:"scheduling,omitempty"`
}
