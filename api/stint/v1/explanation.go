package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobExplanation tells what a Job does or why it does nothing, and what happens next: what GET …/jobs/NAME/why of stint
// server answers.
//
// +kubebuilder:object:root=true
type JobExplanation struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// State is the main one, where several apply.
	State JobState `json:"state"`
	// Since is when the state began, where that is known.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// ObservedAt is the time that the explanation is of.
	ObservedAt metav1.Time `json:"observedAt"`
	// Summary is one sentence.
	Summary string `json:"summary"`
	// Manager is the controller that the Job is left to.
	Manager string `json:"manager"`
	// TimesAssumed tells that delays are those of a controller with the usual settings. They are not known of this one.
	// +optional
	TimesAssumed bool `json:"timesAssumed,omitempty"`
	// Waits are what it waits for, the most important first.
	// +listType=atomic
	// +optional
	Waits    []JobWait   `json:"waits,omitempty"`
	Progress JobProgress `json:"progress"`
	// Failures are the newest failed pods, the newest first.
	// +listType=atomic
	// +optional
	Failures []PodResult `json:"failures,omitempty"`
	// Next is what happens, in order, if nobody does anything.
	// +listType=atomic
	// +optional
	Next []JobStep `json:"next,omitempty"`
}

// JobState is what a Job does.
type JobState string

// The states of a Job.
const (
	// JobDeleting is a Job that goes as soon as its finalizers have.
	JobDeleting JobState = "Deleting"
	// JobComplete and JobFailed are the ends.
	JobComplete JobState = "Complete"
	JobFailed   JobState = "Failed"
	// JobUnknownMode is a Job with a completion mode that no controller of today understands.
	JobUnknownMode JobState = "UnknownCompletionMode"
	// JobCompleting and JobFailing have their end settled, and wait for pods to end and to be counted.
	JobCompleting JobState = "Completing"
	JobFailing    JobState = "Failing"
	// JobHeld is a run that its CronJob's concurrency policy holds.
	JobHeld      JobState = "HeldByConcurrencyPolicy"
	JobSuspended JobState = "Suspended"
	// JobNotSeen is a Job that no controller has looked at.
	JobNotSeen JobState = "NotSeen"
	// JobWaitingForJobs is a Job whose dependencies have not ended yet.
	JobWaitingForJobs JobState = "WaitingForJobs"
	// JobUnknownPlan is a Job without pods that a controller has to itself of which nothing is known.
	JobUnknownPlan JobState = "LeftToItsController"
	// JobScalingDown has more pods than it should.
	JobScalingDown JobState = "ScalingDown"
	// JobCreationRefused is a Job whose pods the server refuses to make.
	JobCreationRefused JobState = "CreationRefused"
	// JobDelayed waits after failures, with no pod active.
	JobDelayed JobState = "Delayed"
	// JobReplacing waits for pods to end before it makes others, with no pod active.
	JobReplacing JobState = "WaitingForTerminatingPods"
	// JobPaused has a parallelism of 0.
	JobPaused JobState = "Paused"
	// JobStarting has no pod that runs, and none that says what it waits for.
	JobStarting JobState = "Starting"
	// JobPodsWaiting has pods of which none runs, and some say what they wait for.
	JobPodsWaiting JobState = "PodsWaiting"
	// JobWindingDown is a work queue that is empty: its pods finish.
	JobWindingDown JobState = "WindingDown"
	JobRunning     JobState = "Running"
)

// JobWait is something that the Job or some of its pods wait for.
type JobWait struct {
	// For is a word for programs.
	For JobWaitFor `json:"for"`
	// What names it: pods, a Job, finalizers, or the reason that pods give.
	// +optional
	What string `json:"what,omitempty"`
	// Message says it in words.
	Message string `json:"message"`
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// Until is when the wait ends by itself at the latest.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
	// Count is how many pods or indexes wait.
	// +optional
	Count int32 `json:"count,omitempty"`
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
	// WaitForResume is for somebody to resume the Job.
	WaitForResume JobWaitFor = "Resume"
	// WaitForParallelism is for a parallelism above 0.
	WaitForParallelism JobWaitFor = "Parallelism"
	// WaitForDelay is for the delay after failures.
	WaitForDelay JobWaitFor = "Delay"
	// WaitForPods is for pods to finish their work.
	WaitForPods JobWaitFor = "Pods"
	// WaitForTerminatingPods is for pods to end that were told to.
	WaitForTerminatingPods JobWaitFor = "TerminatingPods"
	// WaitForCounting is for ended pods to be counted.
	WaitForCounting JobWaitFor = "Counting"
	// WaitForCreation is for the server to take the Job's pods.
	WaitForCreation JobWaitFor = "Creation"
	// WaitForCapacity is for room on a node.
	WaitForCapacity JobWaitFor = "Capacity"
	// WaitForContainers is for an image, configuration, a volume, or a crashing container's next start.
	WaitForContainers JobWaitFor = "Containers"
	// WaitForFinalizer is for somebody to take a finalizer.
	WaitForFinalizer JobWaitFor = "Finalizer"
	// WaitForDependents is for objects that belong to the Job to be deleted.
	WaitForDependents JobWaitFor = "Dependents"
)

// JobProgress is how far a Job has come. Pods that ended and are not counted yet are in it.
type JobProgress struct {
	Active int32 `json:"active"`
	Ready  int32 `json:"ready"`
	// +optional
	Terminating int32 `json:"terminating,omitempty"`
	Succeeded   int32 `json:"succeeded"`
	Failed      int32 `json:"failed"`
	// Completions is missing for a work queue.
	// +optional
	Completions *int32 `json:"completions,omitempty"`
	Parallelism int32  `json:"parallelism"`
	// FailureLimit is the number of failures that the Job survives; missing where only indexes have one.
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
	// At is missing where it happens as soon as it can.
	// +optional
	At *metav1.Time `json:"at,omitempty"`
}
