package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ScheduledJob runs a Job at the times of its schedule and on demand. Every run is one batch/v1 Job.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=scheduledjobs,singular=scheduledjob,shortName=sj,categories=all
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule.timeSpec`
// +kubebuilder:printcolumn:name="Suspend",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Pending",type=string,JSONPath=`.status.pendingExecutions[*].tag`
// +kubebuilder:printcolumn:name="Running",type=string,JSONPath=`.status.runningExecutions[*].tag`
// +kubebuilder:printcolumn:name="Last Schedule",type=date,JSONPath=`.status.lastScheduleTime`
// +kubebuilder:printcolumn:name="Last Success",type=boolean,JSONPath=`.status.completedExecutions[-1:].success`
// +kubebuilder:printcolumn:name="Blocked",type=string,JSONPath=`.status.conditions[?(@.type=="Blocked")].status`
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.nextScheduleTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Containers",type=string,priority=1,JSONPath=`.spec.template.spec.containers[*].name`
// +kubebuilder:printcolumn:name="Images",type=string,priority=1,JSONPath=`.spec.template.spec.containers[*].image`
//
// The longest name of a pod is NAME-TAG-INDEX, which is its host name too.
//
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label, as the host names of the pods begin with it: lower case letters, digits and hyphens"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) + size(string((has(self.spec.podCount) ? self.spec.podCount : 1) - 1)) <= 46",message="metadata.name is too long: 45 characters, and one less for each further digit of podCount - 1, leave room for the run's tag and the pod's index"
type ScheduledJob struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +required
	Spec ScheduledJobSpec `json:"spec"`
	// Status is written by the controller. Who wants a run now adds it to pendingExecutions.
	// +optional
	Status ScheduledJobStatus `json:"status,omitempty"`
}

// ScheduledJobList is a list of ScheduledJobs.
//
// +kubebuilder:object:root=true
type ScheduledJobList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ScheduledJob `json:"items"`
}

// ScheduledJobSpec is what is run, when, and how many at a time.
//
// +kubebuilder:validation:XValidation:rule="has(self.template) != has(self.templateRef)",message="either template or templateRef is needed, and not both"
// +kubebuilder:validation:XValidation:rule="!has(self.selector) || (has(self.manualSelector) && self.manualSelector)",message="leave selector out, as it is generated for every run, or set manualSelector to true",fieldPath=".selector"
// +kubebuilder:validation:XValidation:rule="has(self.selector) || !has(self.manualSelector) || !self.manualSelector",message="manualSelector needs a selector that matches the labels of the template",fieldPath=".manualSelector"
// +kubebuilder:validation:XValidation:rule="!has(self.selector) || !has(self.selector.matchLabels) || !has(self.template) || self.selector.matchLabels.all(k, has(self.template.metadata) && has(self.template.metadata.labels) && k in self.template.metadata.labels && self.template.metadata.labels[k] == self.selector.matchLabels[k])",message="the selector does not match the labels of the template",fieldPath=".selector"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || !has(self.template.metadata) || !has(self.template.metadata.labels) || !('stint.dev/job-name' in self.template.metadata.labels || 'stint.dev/job-tag' in self.template.metadata.labels)",message="leave the labels stint.dev/job-name and stint.dev/job-tag out of the template: every run gets its own",fieldPath=".template"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || (has(self.template.spec) && (!has(self.template.spec.restartPolicy) || self.template.spec.restartPolicy in ['Never', 'OnFailure']))",message="the pods of a run come to an end: leave restartPolicy out, or set it to Never or OnFailure",fieldPath=".template"
type ScheduledJobSpec struct {
	// Schedule says when runs start. Without it they start on demand only.
	// +optional
	Schedule *Schedule `json:"schedule,omitempty"`

	// Suspend stops the schedule: due times pass without a run. Runs on demand and those that run already go on.
	// Default false.
	// +optional
	// +default=false
	Suspend *bool `json:"suspend,omitempty"`

	// AllowConcurrentRun lets a run start while another one runs. Where it is false runs wait for each other, in the
	// order in which they came. Default true.
	// +optional
	// +default=true
	AllowConcurrentRun *bool `json:"allowConcurrentRun,omitempty"`

	// MaxRestart is how many times failing containers of a pod are started again. Default 1.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=0
	MaxRestart *int32 `json:"maxRestart,omitempty"`

	// ExecTimeout is how long containers may run, in seconds. One that runs longer is killed, and counts as failed.
	// Default: for ever.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ExecTimeout *int64 `json:"execTimeout,omitempty"`

	// PodCount is how many pods a run has. They all start at once; each is told the number in JOB_POD_COUNT and its
	// own index, from 0, in JOB_POD_INDEX. Default 1.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	PodCount *int32 `json:"podCount,omitempty"`

	// Selector selects the pods, together with the label stint.dev/job-tag of their run. Normally it is left out, and
	// the system takes care of it. Needs manualSelector.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// ManualSelector tells that selector is meant as it is written. Default false.
	// +optional
	ManualSelector *bool `json:"manualSelector,omitempty"`

	// Template is the pods of a run. Either it or templateRef is needed. Its restartPolicy may be left out: runs use
	// Never, so that every restart is a new pod and is counted.
	// +optional
	Template *corev1.PodTemplateSpec `json:"template,omitempty"`

	// TemplateRef names a PodTemplate of the same namespace to be used instead of template, as it is when a run starts.
	// +optional
	TemplateRef *corev1.LocalObjectReference `json:"templateRef,omitempty"`

	// ManagedBy is the controller that runs the Jobs, copied into each. Default: whoever runs Jobs that name none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$`
	ManagedBy *string `json:"managedBy,omitempty"`

	// SuccessfulJobsHistoryLimit is how many Jobs of successful runs are kept, the newest ones. Default 3.
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=0
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`

	// FailedJobsHistoryLimit is how many Jobs of failed runs are kept, the newest ones. Default 1.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=0
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`

	// CompletedExecutionsHistoryLimit is how many entries status.completedExecutions has, from 0 to 1000. They outlive
	// the Jobs. Default 20.
	// +optional
	// +default=20
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	CompletedExecutionsHistoryLimit *int32 `json:"completedExecutionsHistoryLimit,omitempty"`
}

// Schedule says when runs start.
type Schedule struct {
	// TimeSpec is either a repeating interval of ISO 8601, R[n]/<start>/<duration>, or a cron expression.
	//
	// Rn is for n runs and R for ever. The start is a date and a time, or a time only, which means its next
	// occurrence, or empty, which means now; it may end in Z or in an offset such as +02:00, and is in timeZone where it
	// does not. The duration (PT90S, P1D, P1M …) is between one start and the next; days, months and years are those of
	// the calendar.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="!self.contains('TZ')",message="must not hold a time zone: set timeZone instead"
	TimeSpec string `json:"timeSpec"`

	// TimeZone is the IANA name of the zone of times that name none. Default Etc/UTC.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}(/[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13})*$`
	// +kubebuilder:validation:XValidation:rule="self.lowerAscii() != 'local' && !self.matches('^[+-]?[0-9]') && timestamp('2026-01-01T00:00:00Z').getHours(self) >= 0",message="unknown time zone: write an IANA name such as Europe/Berlin or Etc/UTC"
	TimeZone *string `json:"timeZone,omitempty"`

	// SkipOutdated keeps only the latest of the scheduled runs that wait: one that becomes due replaces those before it.
	// Default true.
	// +optional
	// +default=true
	SkipOutdated *bool `json:"skipOutdated,omitempty"`

	// BlockOnFailure stops the schedule after a failed run, until a person resumes it. Runs on demand go on.
	// Default false.
	// +optional
	// +default=false
	BlockOnFailure *bool `json:"blockOnFailure,omitempty"`
}

// ScheduledJobStatus is the runs to come, those that run, and those that ended.
//
// +kubebuilder:validation:XValidation:rule="!has(self.pendingExecutions) || self.pendingExecutions.all(e, !has(e.status) || e.status == 'Pending')",message="the status of pendingExecutions is Pending",fieldPath=".pendingExecutions"
// +kubebuilder:validation:XValidation:rule="!has(self.runningExecutions) || self.runningExecutions.all(e, !has(e.status) || e.status == 'Running')",message="the status of runningExecutions is Running",fieldPath=".runningExecutions"
// +kubebuilder:validation:XValidation:rule="!has(self.completedExecutions) || self.completedExecutions.all(e, !has(e.status) || e.status == 'Completed')",message="the status of completedExecutions is Completed",fieldPath=".completedExecutions"
// +kubebuilder:validation:XValidation:rule="!has(self.pendingExecutions) || self.pendingExecutions.filter(e, e.tag.matches('^[a-z]')).size() <= 100",message="no more than 100 runs on demand wait at a time",fieldPath=".pendingExecutions"
// +kubebuilder:validation:XValidation:rule="!has(self.pendingExecutions) || !has(self.completedExecutions) || self.pendingExecutions.all(e, !self.completedExecutions.exists(c, c.tag == e.tag))",message="a tag of pendingExecutions is among completedExecutions: take another one",fieldPath=".pendingExecutions"
// +kubebuilder:validation:XValidation:rule="!has(self.pendingExecutions) || !has(self.runningExecutions) || self.pendingExecutions.all(e, !self.runningExecutions.exists(c, c.tag == e.tag))",message="a tag of pendingExecutions is among runningExecutions: take another one",fieldPath=".pendingExecutions"
type ScheduledJobStatus struct {
	// ObservedGeneration is that of the spec which the rest of the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Schedule is the schedule as it was taken up, from which due times are computed.
	// +optional
	Schedule *ObservedSchedule `json:"schedule,omitempty"`

	// PendingExecutions wait to start, in this order. Add an entry with a tag of its own to have it run.
	// +optional
	// +listType=map
	// +listMapKey=tag
	// +kubebuilder:validation:MaxItems=200
	PendingExecutions []Execution `json:"pendingExecutions,omitempty"`

	// RunningExecutions have a Job that has not ended, in the order of their starts.
	// +optional
	// +listType=map
	// +listMapKey=tag
	// +kubebuilder:validation:MaxItems=1000
	RunningExecutions []Execution `json:"runningExecutions,omitempty"`

	// CompletedExecutions are the latest runs that ended, in the order of their ends.
	// +optional
	// +listType=map
	// +listMapKey=tag
	// +kubebuilder:validation:MaxItems=1000
	CompletedExecutions []Execution `json:"completedExecutions,omitempty"`

	// ScheduleCount is how many runs have started so far, by the schedule and on demand.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ScheduleCount int64 `json:"scheduleCount,omitempty"`

	// SkippedCount is how many due times have passed without a run.
	// +optional
	// +kubebuilder:validation:Minimum=0
	SkippedCount int64 `json:"skippedCount,omitempty"`

	// LastScheduleTime is the latest due time that has been dealt with: it has become a run or has been skipped.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// NextScheduleTime is the next due time, where there is one.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// LastSuccessfulTime is when the latest successful run ended.
	// +optional
	LastSuccessfulTime *metav1.Time `json:"lastSuccessfulTime,omitempty"`

	// Conditions are Blocked, Suspended and InvalidSchedule.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// The types of conditions.
const (
	// ConditionBlocked tells that a run failed and the schedule waits for a person to set it to False, or to remove it. It
	// is there, True or False, for as long as blockOnFailure is true.
	ConditionBlocked = "Blocked"
	// ConditionSuspended tells that spec.suspend has been seen.
	ConditionSuspended = "Suspended"
	// ConditionInvalidSchedule tells that the schedule cannot be read, so that nothing is due.
	ConditionInvalidSchedule = "InvalidSchedule"
)

// ObservedSchedule is a schedule that is in force.
type ObservedSchedule struct {
	// TimeSpec and TimeZone are the spec's.
	TimeSpec string `json:"timeSpec"`
	// +optional
	TimeZone string `json:"timeZone,omitempty"`
	// Since is when the schedule was taken up: nothing is due before.
	Since metav1.Time `json:"since"`
}

// ExecutionStatus is where a run is in its life.
//
// +kubebuilder:validation:Enum=Pending;Running;Completed
type ExecutionStatus string

// The states of a run, in order.
const (
	ExecutionPending   ExecutionStatus = "Pending"
	ExecutionRunning   ExecutionStatus = "Running"
	ExecutionCompleted ExecutionStatus = "Completed"
)

// Trigger is what asked for a run.
//
// +kubebuilder:validation:Enum=Schedule;Manual
type Trigger string

// What runs are asked for by.
const (
	TriggerSchedule Trigger = "Schedule"
	TriggerManual   Trigger = "Manual"
)

// Execution is one run.
//
// +kubebuilder:validation:XValidation:rule="!has(self.trigger) || (self.trigger == 'Schedule') == self.tag.matches('^[0-9]')",message="the tag of a scheduled run is its due time, that of a run on demand begins with a letter",fieldPath=".trigger"
type Execution struct {
	// Tag names the run among those of its ScheduledJob: its due time (20260301-120000, UTC) or, for a run on demand, what
	// its author chose. Its Job is called NAME-TAG; Job and pods carry it in the label stint.dev/job-tag.
	// +required
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:Pattern=`^([0-9]{4}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])-([01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]|[a-z]([a-z0-9-]{0,13}[a-z0-9])?)$`
	Tag string `json:"tag"`
	// +optional
	Trigger Trigger `json:"trigger,omitempty"`
	// +optional
	Status ExecutionStatus `json:"status,omitempty"`

	// DueAt is the due time of a scheduled run.
	// +optional
	DueAt *metav1.Time `json:"dueAt,omitempty"`
	// CreatedAt is when the run was asked for or became due.
	// +optional
	CreatedAt *metav1.Time `json:"createdAt,omitempty"`
	// StartedAt is when its Job was created.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// CompletedAt is when its Job ended.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`

	// JobName and JobUID are of the run's Job.
	// +optional
	JobName string `json:"jobName,omitempty"`
	// +optional
	JobUID types.UID `json:"jobUID,omitempty"`

	// Success tells how a completed run ended.
	// +optional
	Success *bool `json:"success,omitempty"`
	// Reason and Message tell why a run failed, or why it waits.
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// ExitCodes are those of the last pod of each index, as far as the pods were still there when the run ended. They are
	// the 16 most frequent ones.
	// +optional
	// +listType=atomic
	ExitCodes []ExitCode `json:"exitCodes,omitempty"`

	// Overrides change this one run on demand.
	// +optional
	Overrides *Overrides `json:"overrides,omitempty"`
}

// ExitCode is a code and how many pods ended with it.
type ExitCode struct {
	// Code is that of the first container that failed, or 0. It is -1 where the pod failed and no container did, because
	// it was evicted or never started.
	Code int32 `json:"code"`
	// Pods is how many pods ended with it.
	Pods int32 `json:"pods"`
	// Indexes are those of these pods, such as "0,2-5". Left out where they would take more than 256
	// characters.
	// +optional
	Indexes string `json:"indexes,omitempty"`
}

// Overrides change the containers of one run.
type Overrides struct {
	// Container is the one to change. Default: env is for all but the init containers, and args for the first.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	Container string `json:"container,omitempty"`
	// Env is added to the container's environment, in place of variables of the same name.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
	// Args replace the container's args.
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty"`
}

// ScheduledJobRun asks for one run: POST it to …/scheduledjobs/NAME/run of stint server. The answer has the tag.
//
// +kubebuilder:object:root=true
type ScheduledJobRun struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Tag names the run, so that it can be asked for twice without running twice. Default: a generated one.
	// +optional
	Tag string `json:"tag,omitempty"`
	// +optional
	Overrides *Overrides `json:"overrides,omitempty"`
}

// Labels and annotations of Jobs and pods that belong to a run.
const (
	// LabelJobName is the name of the ScheduledJob.
	LabelJobName = "stint.dev/job-name"
	// LabelJobTag is the tag of the run.
	LabelJobTag = "stint.dev/job-tag"
)
