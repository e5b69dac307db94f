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
// The longest pod name is NAME-TAG-INDEX, which is also the pod's host name.
//
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label, as the host names of the pods begin with it: lower case letters, digits and hyphens"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) + size(string((has(self.spec.podCount) ? self.spec.podCount : 1) - 1)) <= 46",message="metadata.name is too long: 45 characters, and one less for each further digit of podCount - 1, leave room for the run's tag and the pod's index"
type ScheduledJob struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +required
	Spec ScheduledJobSpec `json:"spec"`
	// Status is written by the controller. To start a run now, add it to pendingExecutions.
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
// +kubebuilder:validation:XValidation:rule="!has(self.template) || (has(self.template.spec) && (!has(self.template.spec.restartPolicy) || self.template.spec.restartPolicy in ['Never', 'OnFailure']))",message="the pods of a run must terminate: leave restartPolicy out, or set it to Never or OnFailure",fieldPath=".template"
type ScheduledJobSpec struct {
	// Schedule says when runs start. Without it they start on demand only.
	// +optional
	Schedule *Schedule `json:"schedule,omitempty"`

	// Suspend stops the schedule: due times pass without a run. It affects neither runs on demand nor runs that have
	// started. Default false.
	// +optional
	// +default=false
	Suspend *bool `json:"suspend,omitempty"`

	// AllowConcurrentRun lets a run start while another one runs. If it is false, runs wait for each other and start in the
	// order in which they were requested or became due. Default true.
	// +optional
	// +default=true
	AllowConcurrentRun *bool `json:"allowConcurrentRun,omitempty"`

	// MaxRestart is how many times failing containers of a pod are restarted. Default 1.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=0
	MaxRestart *int32 `json:"maxRestart,omitempty"`

	// ExecTimeout is how long a container may run, in seconds. A container that runs longer is killed and counts as failed.
	// Default: no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ExecTimeout *int64 `json:"execTimeout,omitempty"`

	// PodCount is how many pods a run has. They all start at once. The environment variable JOB_POD_COUNT has their number,
	// and JOB_POD_INDEX the pod's own index, counted from 0. Default 1.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	PodCount *int32 `json:"podCount,omitempty"`

	// Selector selects the pods, together with the label stint.dev/job-tag of their run. Normally it is left out and
	// generated. Needs manualSelector.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// ManualSelector uses selector as it is written instead of a generated one. Default false.
	// +optional
	ManualSelector *bool `json:"manualSelector,omitempty"`

	// Template is the template of a run's pods. Either it or templateRef is needed. If restartPolicy is left out, runs use
	// Never, so that every restart is a new pod and is counted.
	// +optional
	Template *corev1.PodTemplateSpec `json:"template,omitempty"`

	// TemplateRef names a PodTemplate of the same namespace that is used instead of template. It is read when a run starts.
	// +optional
	TemplateRef *corev1.LocalObjectReference `json:"templateRef,omitempty"`

	// ManagedBy is the controller that runs the Jobs; it is copied to the spec of each Job. Default: the controller of Jobs
	// without managedBy.
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

	// CompletedExecutionsHistoryLimit is how many entries status.completedExecutions keeps, from 0 to 1000. An entry stays
	// when its Job is deleted. Default 20.
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
	// Rn means n runs, and R means no limit. The start is a date and a time, or only a time, which means its next
	// occurrence, or empty, which means now. It may end in Z or in an offset such as +02:00, else it is in timeZone. The
	// duration (PT90S, P1D, P1M …) is the interval between two starts; days, months and years are those of the calendar.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="!self.contains('TZ')",message="must not hold a time zone: set timeZone instead"
	TimeSpec string `json:"timeSpec"`

	// TimeZone is the IANA name of the time zone for times without a zone or offset. Default Etc/UTC.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}(/[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13})*$`
	// +kubebuilder:validation:XValidation:rule="self.lowerAscii() != 'local' && !self.matches('^[+-]?[0-9]') && timestamp('2026-01-01T00:00:00Z').getHours(self) >= 0",message="unknown time zone: write an IANA name such as Europe/Berlin or Etc/UTC"
	TimeZone *string `json:"timeZone,omitempty"`

	// SkipOutdated keeps only the latest scheduled run that waits: a run that becomes due replaces those before it.
	// Default true.
	// +optional
	// +default=true
	SkipOutdated *bool `json:"skipOutdated,omitempty"`

	// BlockOnFailure stops the schedule after a failed run, until a user unblocks it. Runs on demand can still start.
	// Default false.
	// +optional
	// +default=false
	BlockOnFailure *bool `json:"blockOnFailure,omitempty"`
}

// ScheduledJobStatus lists the runs that are pending, running and completed.
//
// +kubebuilder:validation:XValidation:rule="!has(self.pendingExecutions) || self.pendingExecutions.all(e, !has(e.status) || e.status == 'Pending')",message="the status of pendingExecutions is Pending",fieldPath=".pendingExecutions"
// +kubebuilder:validation:XValidation:rule="!has(self.runningExecutions) || self.runningExecutions.all(e, !has(e.status) || e.status == 'Running')",message="the status of runningExecutions is Running",fieldPath=".runningExecutions"
// +kubebuilder:validation:XValidation:rule="!has(self.completedExecutions) || self.completedExecutions.all(e, !has(e.status) || e.status == 'Completed')",message="the status of completedExecutions is Completed",fieldPath=".completedExecutions"
// +kubebuilder:validation:XValidation:rule="!has(self.pendingExecutions) || self.pendingExecutions.filter(e, e.tag.matches('^[a-z]')).size() <= 100",message="no more than 100 runs on demand wait at a time",fieldPath=".pendingExecutions"
// +kubebuilder:validation:XValidation:rule="!has(self.pendingExecutions) || !has(self.completedExecutions) || self.pendingExecutions.all(e, !self.completedExecutions.exists(c, c.tag == e.tag))",message="a tag of pendingExecutions is among completedExecutions: take another one",fieldPath=".pendingExecutions"
// +kubebuilder:validation:XValidation:rule="!has(self.pendingExecutions) || !has(self.runningExecutions) || self.pendingExecutions.all(e, !self.runningExecutions.exists(c, c.tag == e.tag))",message="a tag of pendingExecutions is among runningExecutions: take another one",fieldPath=".pendingExecutions"
type ScheduledJobStatus struct {
	// ObservedGeneration is the generation of the spec that the rest of the status is based on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Schedule is the observed schedule, from which due times are computed.
	// +optional
	Schedule *ObservedSchedule `json:"schedule,omitempty"`

	// PendingExecutions are runs that wait to start, in this order. Add an entry with a unique tag to start a run.
	// +optional
	// +listType=map
	// +listMapKey=tag
	// +kubebuilder:validation:MaxItems=200
	PendingExecutions []Execution `json:"pendingExecutions,omitempty"`

	// RunningExecutions are runs whose Job has not finished, in the order in which they started.
	// +optional
	// +listType=map
	// +listMapKey=tag
	// +kubebuilder:validation:MaxItems=1000
	RunningExecutions []Execution `json:"runningExecutions,omitempty"`

	// CompletedExecutions are the latest finished runs, in the order in which they finished.
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

	// LastScheduleTime is the latest due time that has become a run or has been skipped.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// NextScheduleTime is the next due time, if there is one.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// LastSuccessfulTime is when the latest successful run finished.
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
	// ConditionBlocked is True after a run has failed: the schedule waits until a user sets the condition to False or
	// removes it. The condition exists, True or False, while blockOnFailure is true.
	ConditionBlocked = "Blocked"
	// ConditionSuspended is True once the controller has observed spec.suspend.
	ConditionSuspended = "Suspended"
	// ConditionInvalidSchedule is True if the schedule cannot be parsed, so that no run becomes due.
	ConditionInvalidSchedule = "InvalidSchedule"
)

// ObservedSchedule is the schedule that the controller has observed and follows.
type ObservedSchedule struct {
	// TimeSpec and TimeZone are copied from the spec.
	TimeSpec string `json:"timeSpec"`
	// +optional
	TimeZone string `json:"timeZone,omitempty"`
	// Since is when the controller observed the schedule: no run is due before it.
	Since metav1.Time `json:"since"`
}

// ExecutionStatus is the state of a run.
//
// +kubebuilder:validation:Enum=Pending;Running;Completed
type ExecutionStatus string

// The states of a run, in order.
const (
	ExecutionPending   ExecutionStatus = "Pending"
	ExecutionRunning   ExecutionStatus = "Running"
	ExecutionCompleted ExecutionStatus = "Completed"
)

// Trigger is what started a run: the schedule or a user.
//
// +kubebuilder:validation:Enum=Schedule;Manual
type Trigger string

// The triggers of a run.
const (
	TriggerSchedule Trigger = "Schedule"
	TriggerManual   Trigger = "Manual"
)

// Execution is one run.
//
// +kubebuilder:validation:XValidation:rule="!has(self.trigger) || (self.trigger == 'Schedule') == self.tag.matches('^[0-9]')",message="the tag of a scheduled run is its due time, that of a run on demand begins with a letter",fieldPath=".trigger"
type Execution struct {
	// Tag is the name of the run, unique in its ScheduledJob: its due time (20260301-120000, UTC) or, for a run on demand,
	// a tag that the user chose. The run's Job is named NAME-TAG. The Job and its pods have the label stint.dev/job-tag.
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
	// CreatedAt is when the run was requested or became due.
	// +optional
	CreatedAt *metav1.Time `json:"createdAt,omitempty"`
	// StartedAt is when its Job was created.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// CompletedAt is when its Job finished.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`

	// JobName and JobUID are those of the run's Job.
	// +optional
	JobName string `json:"jobName,omitempty"`
	// +optional
	JobUID types.UID `json:"jobUID,omitempty"`

	// Success is true if the completed run succeeded, and false if it failed.
	// +optional
	Success *bool `json:"success,omitempty"`
	// Reason and Message say why a run failed, or why it waits.
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// ExitCodes are the 16 most frequent exit codes of the last pod of each index. Pods that no longer existed when the run
	// finished are missing.
	// +optional
	// +listType=atomic
	ExitCodes []ExitCode `json:"exitCodes,omitempty"`

	// Overrides change the containers of this run. Runs on demand only.
	// +optional
	Overrides *Overrides `json:"overrides,omitempty"`
}

// ExitCode is an exit code and the pods that ended with it.
type ExitCode struct {
	// Code is the exit code of the first container that failed, or 0. It is -1 if the pod failed although no container did,
	// for example because it was evicted or never started.
	Code int32 `json:"code"`
	// Pods is how many pods ended with it.
	Pods int32 `json:"pods"`
	// Indexes are the completion indexes of these pods, such as "0,2-5". Left out if they are longer than 256 characters.
	// +optional
	Indexes string `json:"indexes,omitempty"`
}

// Overrides change the containers of one run.
type Overrides struct {
	// Container is the name of the container to change. Default: env is added to all containers except init containers, and
	// args replace those of the first container.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	Container string `json:"container,omitempty"`
	// Env is added to the container's environment and replaces variables of the same name.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`
	// Args replace the container's args.
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty"`
}

// ScheduledJobRun requests one run: POST it to …/scheduledjobs/NAME/run of stint server. The response has the tag.
//
// +kubebuilder:object:root=true
type ScheduledJobRun struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Tag is the name of the run, so that a repeated request does not start a second run. Default: a generated tag.
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
