package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobExplanation says what a Job does or why it does nothing, and what happens next. stint server returns it for
// GET …/jobs/NAME/why.
//
// +kubebuilder:object:root=true
type JobExplanation struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// State is what the Job does. If several states apply, it is the most important one.
	State JobState `json:"state"`
	// Since is when the state began, if that is known.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// ObservedAt is the time for which the explanation holds.
	ObservedAt metav1.Time `json:"observedAt"`
	// Summary is the explanation in one sentence.
	Summary string `json:"summary"`
	// Manager is the name of the controller that manages the Job.
	Manager string `json:"manager"`
	// TimesAssumed is true if the delays are computed with the default settings of a controller, because the settings of
	// the Job's controller are not known.
	// +optional
	TimesAssumed bool `json:"timesAssumed,omitempty"`
	// Waits are what the Job waits for, the most important first.
	// +listType=atomic
	// +optional
	Waits    []JobWait   `json:"waits,omitempty"`
	Progress JobProgress `json:"progress"`
	// Failures are the latest failed pods, the newest first.
	// +listType=atomic
	// +optional
	Failures []PodResult `json:"failures,omitempty"`
	// Next is what happens next, in order, if no user changes anything.
	// +listType=atomic
	// +optional
	Next []JobStep `json:"next,omitempty"`
}

// JobState is what a Job does.
type JobState string

// The states of a Job.
const (
	// JobDeleting is a deleted Job that exists until its finalizers are removed.
	JobDeleting JobState = "Deleting"
	// JobComplete and JobFailed are finished Jobs.
	JobComplete JobState = "Complete"
	JobFailed   JobState = "Failed"
	// JobUnknownMode is a Job with a completion mode that is neither NonIndexed nor Indexed.
	JobUnknownMode JobState = "UnknownCompletionMode"
	// JobCompleting and JobFailing are Jobs that will be complete or failed when their pods have terminated and are
	// counted.
	JobCompleting JobState = "Completing"
	JobFailing    JobState = "Failing"
	// JobHeld is a run that waits because its CronJob's concurrency policy allows no other run beside the active one.
	JobHeld      JobState = "HeldByConcurrencyPolicy"
	JobSuspended JobState = "Suspended"
	// JobNotSeen is a Job that its controller has not synced yet.
	JobNotSeen JobState = "NotSeen"
	// JobWaitingForJobs is a Job with a dependency that has not finished yet.
	JobWaitingForJobs JobState = "WaitingForJobs"
	// JobUnknownPlan is a Job without pods that an external controller manages: its next steps are not known.
	JobUnknownPlan JobState = "LeftToItsController"
	// JobScalingDown has more pods than it should.
	JobScalingDown JobState = "ScalingDown"
	// JobCreationRefused is a Job whose pods the API server refuses to create.
	JobCreationRefused JobState = "CreationRefused"
	// JobDelayed waits after failures, with no pod active.
	JobDelayed JobState = "Delayed"
	// JobReplacing waits for pods to terminate before it creates their replacements, with no pod active.
	JobReplacing JobState = "WaitingForTerminatingPods"
	// JobPaused has a parallelism of 0.
	JobPaused JobState = "Paused"
	// JobStarting has no running pod, and no pod has a waiting reason.
	JobStarting JobState = "Starting"
	// JobPodsWaiting has pods, none of which runs, and some have a waiting reason.
	JobPodsWaiting JobState = "PodsWaiting"
	// JobWindingDown is a work queue of which a pod has succeeded: the other pods finish, and no new ones are created.
	JobWindingDown JobState = "WindingDown"
	JobRunning     JobState = "Running"
)

// JobWait is something that the Job or some of its pods wait for.
type JobWait struct {
	// For is the kind of wait, for programs.
	For JobWaitFor `json:"for"`
	// What names what is waited for: pods, a Job, finalizers, the waiting reason of pods, a PersistentVolumeClaim, or a missing
	// object as KIND/NAME.
	// +optional
	What string `json:"what,omitempty"`
	// Message describes the wait for people.
	Message string `json:"message"`
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// Until is when the wait ends at the latest, without any action of a user.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
	// Count is the number of pods or indexes that wait.
	// +optional
	Count int32 `json:"count,omitempty"`
	// Keys are those that pods use of a missing ConfigMap or Secret, as far as the pod template names them.
	// +optional
	// +listType=atomic
	Keys []string `json:"keys,omitempty"`
}

// JobWaitFor is a kind of wait.
type JobWaitFor string

// The kinds of waits.
const (
	// WaitForController is for a controller to act.
	WaitForController JobWaitFor = "Controller"
	// WaitForConcurrency is for another run of the CronJob.
	WaitForConcurrency JobWaitFor = "ConcurrencyPolicy"
	// WaitForJob is for another Job.
	WaitForJob JobWaitFor = "Job"
	// WaitForResume is for a user to resume the Job.
	WaitForResume JobWaitFor = "Resume"
	// WaitForParallelism is for a parallelism above 0.
	WaitForParallelism JobWaitFor = "Parallelism"
	// WaitForDelay is for the delay after failures.
	WaitForDelay JobWaitFor = "Delay"
	// WaitForPods is for pods to finish their work.
	WaitForPods JobWaitFor = "Pods"
	// WaitForTerminatingPods is for deleted pods to terminate.
	WaitForTerminatingPods JobWaitFor = "TerminatingPods"
	// WaitForCounting is for terminated pods to be counted.
	WaitForCounting JobWaitFor = "Counting"
	// WaitForCreation is for the API server to accept the Job's pods.
	WaitForCreation JobWaitFor = "Creation"
	// WaitForCapacity is for room on a node.
	WaitForCapacity JobWaitFor = "Capacity"
	// WaitForObject is for an object that pods refer to and that does not exist.
	WaitForObject JobWaitFor = "Object"
	// WaitForClaim is for a PersistentVolumeClaim to be bound.
	WaitForClaim JobWaitFor = "PersistentVolumeClaim"
	// WaitForContainers is for an image, configuration, a volume, or a crashing container's next start.
	WaitForContainers JobWaitFor = "Containers"
	// WaitForFinalizer is for a controller or a user to remove a finalizer.
	WaitForFinalizer JobWaitFor = "Finalizer"
	// WaitForDependents is for objects that belong to the Job to be deleted.
	WaitForDependents JobWaitFor = "Dependents"
)

// JobProgress is the number of pods and indexes in each state. Terminated pods that are not counted in the Job's status
// yet are included.
type JobProgress struct {
	Active int32 `json:"active"`
	Ready  int32 `json:"ready"`
	// +optional
	Terminating int32 `json:"terminating,omitempty"`
	Succeeded   int32 `json:"succeeded"`
	Failed      int32 `json:"failed"`
	// Completions is unset for a work queue.
	// +optional
	Completions *int32 `json:"completions,omitempty"`
	Parallelism int32  `json:"parallelism"`
	// FailureLimit is the Job's backoff limit. Unset if only indexes have one.
	// +optional
	FailureLimit *int32 `json:"failureLimit,omitempty"`
	// +optional
	FailedIndexes int32 `json:"failedIndexes,omitempty"`
	// +optional
	MaxFailedIndexes *int32 `json:"maxFailedIndexes,omitempty"`
}

// JobStep is something that will happen.
type JobStep struct {
	What string `json:"what"`
	// At is when it happens. Unset if it happens as soon as possible.
	// +optional
	At *metav1.Time `json:"at,omitempty"`
}
