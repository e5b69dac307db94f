package scheduledjob

import (
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

func (s *draft) condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(s.status.Conditions, kind)
}

func (s *draft) isTrue(kind string) bool {
	return meta.IsStatusConditionTrue(s.status.Conditions, kind)
}

// setCondition changes nothing where status, reason and message are the same already.
func (s *draft) setCondition(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&s.status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: s.sj.Generation, LastTransitionTime: metav1.NewTime(s.now)})
}

func (s *draft) removeCondition(kind string) {
	meta.RemoveStatusCondition(&s.status.Conditions, kind)
}
