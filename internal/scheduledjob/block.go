package scheduledjob

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// followBlock keeps the condition Blocked for as long as failures block, so that one that is missing or that is False for
// another reason than ours was cleared by a person.
func (s *draft) followBlock() {
	c := s.condition(stintv1.ConditionBlocked)
	if !blocksOnFailure(s.sj) {
		if s.isTrue(stintv1.ConditionBlocked) {
			s.tell(ReasonResumed, "Schedule resumed: failed runs do not block it any more")
		}
		s.removeCondition(stintv1.ConditionBlocked)
		return
	}
	switch {
	case c == nil && s.status.ObservedGeneration != s.sj.Generation:
		s.unblock()
	case c == nil || c.Status != metav1.ConditionTrue && c.Reason != ReasonNotBlocked:
		s.unblock()
		s.tell(ReasonResumed, "Schedule resumed")
	}
}

func (s *draft) unblock() {
	s.setCondition(stintv1.ConditionBlocked, metav1.ConditionFalse, ReasonNotBlocked, "")
}

// block stops the schedule because of a run that failed. The first one is the reason.
func (s *draft) block(e stintv1.Execution) {
	if !blocksOnFailure(s.sj) || s.isTrue(stintv1.ConditionBlocked) {
		return
	}
	message := fmt.Sprintf("run %s failed: %s", e.Tag, because(e))
	s.setCondition(stintv1.ConditionBlocked, metav1.ConditionTrue, ReasonRunFailed, message)
	s.warn(ReasonBlocked, "Schedule blocked: %s", message)
}

// because tells why a run failed.
func because(e stintv1.Execution) string {
	if e.Message == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Message
}
