package scheduledjob

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func (g *gate) blocked() bool { return g.conditions.isTrue(stintv1.ConditionBlocked) }

// updateBlockedCondition keeps the condition Blocked for as long as spec.schedule.blockOnFailure is set, True or False. So a
// condition that is missing, or False with a reason that is not ours, was cleared by a user.
func (g *gate) updateBlockedCondition() {
	c := g.conditions.find(stintv1.ConditionBlocked)
	if !blocksOnFailure(g.sj) {
		if g.blocked() {
			g.events.addEvent(ReasonResumed, "Schedule resumed: failed runs do not block it any more")
		}
		g.conditions.remove(stintv1.ConditionBlocked)
		return
	}
	switch {
	case c == nil && g.sj.Status.ObservedGeneration != g.sj.Generation:
		g.unblock()
	case c == nil || c.Status != metav1.ConditionTrue && c.Reason != ReasonNotBlocked:
		g.unblock()
		g.events.addEvent(ReasonResumed, "Schedule resumed")
	}
}

func (g *gate) unblock() {
	g.conditions.set(stintv1.ConditionBlocked, metav1.ConditionFalse, ReasonNotBlocked, "")
}

// block sets the condition Blocked because of a failed run. While it is set, later failures do not change its message.
func (g *gate) block(e stintv1.Execution) {
	if !blocksOnFailure(g.sj) || g.blocked() {
		return
	}
	message := fmt.Sprintf("run %s failed: %s", e.Tag, failureText(e))
	g.conditions.set(stintv1.ConditionBlocked, metav1.ConditionTrue, ReasonRunFailed, message)
	g.events.addWarning(ReasonBlocked, "Schedule blocked: %s", message)
}

// failureText returns why a run failed: its reason, and its message if there is one.
func failureText(e stintv1.Execution) string {
	if e.Message == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Message
}
