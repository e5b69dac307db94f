package scheduledjob

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// updateSuspendedCondition sets the condition Suspended to spec.suspend. Before the first suspension there is no condition.
func (g *gate) updateSuspendedCondition() {
	was := g.conditions.isTrue(stintv1.ConditionSuspended)
	switch {
	case suspended(g.sj) && !was:
		g.conditions.set(stintv1.ConditionSuspended, metav1.ConditionTrue, ReasonSuspended, "due times pass without a run")
		g.events.addEvent(ReasonSuspended, "Schedule suspended")
	case !suspended(g.sj) && was:
		g.conditions.set(stintv1.ConditionSuspended, metav1.ConditionFalse, ReasonResumed, "")
		g.events.addEvent(ReasonResumed, "Schedule resumed")
	}
}
