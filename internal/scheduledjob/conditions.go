package scheduledjob

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons of conditions, of executions, and of events.
const (
	ReasonSuspended        = "Suspended"
	ReasonResumed          = "Resumed"
	ReasonBlocked          = "Blocked"
	ReasonNotBlocked       = "NotBlocked"
	ReasonRunFailed        = "RunFailed"
	ReasonInvalidSchedule  = "InvalidSchedule"
	ReasonInvalidExecution = "InvalidExecution"
	ReasonInvalidOverrides = "InvalidOverrides"
	ReasonQueued           = "Queued"
	ReasonRunQueued        = "RunQueued"
	ReasonRunsSkipped      = "RunsSkipped"
	ReasonTemplateNotFound = "TemplateNotFound"
	ReasonSuccessfulCreate = "SuccessfulCreate"
	ReasonFailedCreate     = "FailedCreate"
	ReasonSawCompletedRun  = "SawCompletedRun"
	ReasonJobDeleted       = "JobDeleted"
)

// conditions are status.conditions and status.observedGeneration.
type conditions struct {
	list               []metav1.Condition
	observedGeneration int64
	// generation of the spec, and now, are written into each condition that is set.
	generation int64
	now        time.Time
}

func (c *conditions) find(kind string) *metav1.Condition {
	return meta.FindStatusCondition(c.list, kind)
}

func (c *conditions) isTrue(kind string) bool { return meta.IsStatusConditionTrue(c.list, kind) }

// set changes a condition's lastTransitionTime only if its status changes.
func (c *conditions) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&c.list, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(c.now), ObservedGeneration: c.generation})
}

func (c *conditions) remove(kind string) { meta.RemoveStatusCondition(&c.list, kind) }

// setObservedGeneration marks the status and all conditions as being about this generation of the spec: clients wait for
// conditions of the newest generation.
func (c *conditions) setObservedGeneration() {
	c.observedGeneration = c.generation
	for i := range c.list {
		c.list[i].ObservedGeneration = c.generation
	}
}
