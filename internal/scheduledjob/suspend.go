package scheduledjob

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// followSuspension has the condition tell what the spec asks for, once it has asked for it the first time.
func (s *draft) followSuspension() {
	was := s.isTrue(stintv1.ConditionSuspended)
	switch {
	case suspended(s.sj) && !was:
		s.setCondition(stintv1.ConditionSuspended, metav1.ConditionTrue, ReasonSuspended, "due times pass without a run")
		s.tell(ReasonSuspended, "Schedule suspended")
	case !suspended(s.sj) && was:
		s.setCondition(stintv1.ConditionSuspended, metav1.ConditionFalse, ReasonResumed, "")
		s.tell(ReasonResumed, "Schedule resumed")
	}
}
