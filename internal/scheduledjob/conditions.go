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
		LastTransitionTime: metav1.NewTime(s.now), ObservedGeneration: s.sj.Generation})
}

// observe tells that all of the status is about this generation of the spec: clients wait for conditions of the newest.
func (s *draft) observe() {
	s.status.ObservedGeneration = s.sj.Generation
	for i := range s.status.Conditions {
		s.status.Conditions[i].ObservedGeneration = s.sj.Generation
	}
}

func (s *draft) removeCondition(kind string) {
	meta.RemoveStatusCondition(&s.status.Conditions, kind)
}
