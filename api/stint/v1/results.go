package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Limits of a ResultSlice, so that it can always be stored. Stint's controller writes smaller slices.
const (
	// MaxSliceResults is the maximum number of results of a slice.
	MaxSliceResults = 1000
	// MaxResultName is the maximum length of a name or reason, and MaxResultMessage of a message, in bytes.
	MaxResultName    = 253
	MaxResultMessage = 4096
)

// ResultSlice holds the results of some of a Job's pods, so that they can be read when the pods are gone. The Job owns the
// slice, and the label batch.kubernetes.io/job-name names the Job. A Job with many pods has many slices.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=resultslices,singular=resultslice
// +kubebuilder:printcolumn:name="Job",type=string,JSONPath=`.metadata.labels.batch\.kubernetes\.io/job-name`
// +kubebuilder:printcolumn:name="First Pod",type=string,JSONPath=`.results[0].pod`
// +kubebuilder:printcolumn:name="Last Pod",type=string,JSONPath=`.results[-1:].pod`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ResultSlice struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Before is how many results of the Job were written before those of this slice. It is the order of the slices; the
	// smallest value of all slices is the number of results that have been dropped.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Before int64 `json:"before,omitempty"`
	// Results are in the order in which the pods were counted. If a pod is there more than once, the result that has its
	// end is valid.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Results []PodResult `json:"results"`
}

// ResultSliceList is a list of ResultSlices.
//
// +kubebuilder:object:root=true
type ResultSliceList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ResultSlice `json:"items"`
}

// PodResult is the result of one pod.
type PodResult struct {
	// Pod is its name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Pod string `json:"pod"`
	// UID distinguishes the pod from other pods of the same name.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	UID types.UID `json:"uid"`
	// Index is the completion index that the pod worked on, in an indexed Job.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Index *int32 `json:"index,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
	// Phase is Succeeded or Failed, or Pending, Running or Unknown if the pod had not terminated when it was counted.
	// +kubebuilder:validation:Enum=Pending;Running;Succeeded;Failed;Unknown
	Phase corev1.PodPhase `json:"phase"`
	// Restarts is the number of restarts of the pod's containers.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Restarts int32 `json:"restarts,omitempty"`
	// Container is the name of the container that the fields below are of: the first that failed, else the first one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Container string `json:"container,omitempty"`
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Signal is the number of the signal that ended the container. If the runtime does not report it, an exit code from
	// 129 to 192 is taken as 128 plus the signal, as in a shell.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Signal int32 `json:"signal,omitempty"`
	// Reason is the reason of the pod's status, else that of the container's.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Reason string `json:"reason,omitempty"`
	// CreatedAt is when the pod was created, StartedAt when its first container started.
	// +optional
	CreatedAt *metav1.Time `json:"createdAt,omitempty"`
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// Message is the termination message, else the message of the pod. A long one is cut in the middle.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
}

// JobResults is the result of every index of a Job or, if it is not indexed, of every pod. stint server returns it for
// GET …/jobs/NAME/results.
//
// +kubebuilder:object:root=true
type JobResults struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Items are in the order of the indexes or, without indexes, in the order in which the pods started.
	Items []JobResult `json:"items"`
	// Dropped is how many of the oldest results were deleted because there were too many.
	// +optional
	Dropped int64 `json:"dropped,omitempty"`
}

// JobResult is the result of one index, or of one pod of a Job without indexes.
type JobResult struct {
	// PodResult is the result of the last attempt.
	PodResult `json:",inline"`
	// Attempts is how often the work was started: the number of pods and of container restarts.
	Attempts int32 `json:"attempts"`
	// Earlier are the results of the pods before the last one, the oldest first, without their messages.
	// +optional
	Earlier []PodResult `json:"earlier,omitempty"`
}
