package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Bounds of a ResultSlice, so that it can always be stored. Those who write keep well below.
const (
	// MaxSliceResults is how many results a slice may have.
	MaxSliceResults = 1000
	// MaxResultName is how long a name or reason may be, and MaxResultMessage a message, in bytes.
	MaxResultName    = 253
	MaxResultMessage = 4096
)

// ResultSlice holds what came of some of a Job's pods, so that it can be read when the pods are gone. The Job owns it and
// is named by the label batch.kubernetes.io/job-name; a Job with many pods has many slices.
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
	// Before is how many results of the Job were written before those of this slice. Slices are in its order, and the
	// smallest tells how many results are gone.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Before int64 `json:"before,omitempty"`
	// Results are in the order in which the pods were counted. A pod may be there more than once: what tells of its end
	// holds.
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

// PodResult is what came of one pod.
type PodResult struct {
	// Pod is its name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Pod string `json:"pod"`
	// UID tells it from others of its name.
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
	// Phase is Succeeded or Failed, or Running or Pending where the pod has not ended (when it was counted).
	// +kubebuilder:validation:Enum=Pending;Running;Succeeded;Failed;Unknown
	Phase corev1.PodPhase `json:"phase"`
	// Restarts is how often its containers were started again.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Restarts int32 `json:"restarts,omitempty"`
	// Container is the one that the fields below are of: the first that failed, else the first.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Container string `json:"container,omitempty"`
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Signal is what ended the container. Where the runtime does not tell, an exit code of 129 to 192 is taken for 128 and
	// the signal, as shells have it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Signal int32 `json:"signal,omitempty"`
	// Reason is that of the pod, else that of the container.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Reason string `json:"reason,omitempty"`
	// CreatedAt is when the pod was made, StartedAt when its first container started.
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

// JobResults is what came of every index of a Job or, if it is not indexed, of every pod: what GET …/jobs/NAME/results
// answers.
//
// +kubebuilder:object:root=true
type JobResults struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Items are in the order of the indexes, else of the starts.
	Items []JobResult `json:"items"`
	// Dropped is how many of the oldest results are gone, as there were too many.
	// +optional
	Dropped int64 `json:"dropped,omitempty"`
}

// JobResult is what came of one index, or of one pod of a Job without indexes.
type JobResult struct {
	// PodResult is the last attempt's.
	PodResult `json:",inline"`
	// Attempts is how often the work was begun: by new pods, and by containers that were started again.
	Attempts int32 `json:"attempts"`
	// Earlier are the pods of attempts before the last, oldest first, without their messages.
	// +optional
	Earlier []PodResult `json:"earlier,omitempty"`
}
