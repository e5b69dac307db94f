package scheduledjob

import (
	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// gate holds scheduled runs back while the ScheduledJob is suspended, or blocked by a failed run. Runs on demand are never
// held back. It owns the conditions Suspended and Blocked.
type gate struct {
	sj         *stintv1.ScheduledJob
	conditions *conditions
	events     *events
}

// holds reports whether a run waits until a user resumes the schedule.
func (g *gate) holds(e stintv1.Execution) bool {
	return e.Trigger == stintv1.TriggerSchedule && (suspended(g.sj) || g.blocked())
}

// why returns why runs are held back.
func (g *gate) why() (reason, message string) {
	if g.blocked() {
		return ReasonBlocked, "waits until the schedule is resumed: " + g.conditions.find(stintv1.ConditionBlocked).Message
	}
	return ReasonSuspended, "waits until the schedule is resumed"
}
