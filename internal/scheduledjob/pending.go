package scheduledjob

import (
	"fmt"
	"slices"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// dropMalformed leaves pending what can run, with all that belongs to it, and each run in one list only.
func (s *draft) dropMalformed() {
	seen := map[string]bool{}
	keepNew := func(list []stintv1.Execution) []stintv1.Execution {
		return slices.DeleteFunc(list, func(e stintv1.Execution) bool {
			twice := seen[e.Tag]
			seen[e.Tag] = true
			return twice
		})
	}
	s.status.RunningExecutions = keepNew(s.status.RunningExecutions)
	s.status.CompletedExecutions = keepNew(s.status.CompletedExecutions)
	s.status.PendingExecutions = slices.DeleteFunc(keepNew(s.status.PendingExecutions), func(e stintv1.Execution) bool {
		fault := faultOf(e)
		if fault != "" {
			s.warn(ReasonInvalidExecution, "Dropped a pending execution: %s", fault)
		}
		return fault != ""
	})
	for i := range s.status.PendingExecutions {
		s.fillIn(&s.status.PendingExecutions[i])
	}
}

func faultOf(e stintv1.Execution) string {
	switch {
	case e.Tag == "":
		return "it has no tag"
	case !ValidTag(e.Tag):
		return fmt.Sprintf("tag %q is neither a due time nor 1 to 15 of a-z, 0-9 and '-' that start with a letter and do not end with '-'", shortened(e.Tag))
	case e.Trigger != "" && e.Trigger != triggerOf(e.Tag):
		return fmt.Sprintf("trigger %q does not go with tag %q", shortened(string(e.Trigger)), e.Tag)
	}
	return ""
}

func (s *draft) fillIn(e *stintv1.Execution) {
	e.Trigger, e.Status = triggerOf(e.Tag), stintv1.ExecutionPending
	if due, ok := dueOf(e.Tag); ok && (e.DueAt == nil || !e.DueAt.Time.Equal(due)) {
		e.DueAt = written(due)
	}
	if e.CreatedAt == nil {
		e.CreatedAt = written(s.now)
	}
}

// explainPending tells of each run why it waits.
func (s *draft) explainPending() {
	turn := s.turn()
	for i := range s.status.PendingExecutions {
		e := &s.status.PendingExecutions[i]
		reason, message := s.whyWaiting(*e, turn)
		s.tellWaiting(*e, reason, message)
		e.Reason, e.Message = reason, message
	}
}

// whyWaiting gives no reason for a run that may start.
func (s *draft) whyWaiting(e stintv1.Execution, turn []stintv1.Execution) (reason, message string) {
	switch {
	case s.held(e) && s.isTrue(stintv1.ConditionBlocked):
		return ReasonBlocked, "waits until the schedule is resumed: " + s.condition(stintv1.ConditionBlocked).Message
	case s.held(e):
		return ReasonSuspended, "waits until the schedule is resumed"
	case !has(turn, e.Tag):
		return ReasonQueued, s.whyQueued(turn)
	case s.obs.Template == nil:
		return ReasonTemplateNotFound, s.missingTemplate()
	case e.Reason == ReasonFailedCreate:
		return e.Reason, e.Message
	}
	return "", ""
}

func (s *draft) whyQueued(turn []stintv1.Execution) string {
	switch running := s.status.RunningExecutions; {
	case concurrent(s.sj):
		return fmt.Sprintf("%d runs are enough at a time", maxRunning)
	case len(running) > 0:
		return "waits for run " + running[0].Tag
	default:
		return "waits for run " + turn[0].Tag
	}
}

func (s *draft) missingTemplate() string {
	if ref := s.sj.Spec.TemplateRef; ref != nil {
		return fmt.Sprintf("waits for PodTemplate %q", ref.Name)
	}
	return "waits for a template: the spec has neither template nor templateRef"
}

// tellWaiting tells once that a run has to wait in the queue: what it waits for next is in its message.
func (s *draft) tellWaiting(e stintv1.Execution, reason, message string) {
	switch {
	case queued(reason) && !queued(e.Reason):
		s.tell(ReasonRunQueued, "Run %s %s", e.Tag, message)
	case reason == ReasonTemplateNotFound && e.Reason != reason:
		s.warn(ReasonTemplateNotFound, "Run %s %s", e.Tag, message)
	}
}

func queued(reason string) bool { return reason == ReasonQueued || reason == ReasonBlocked }
