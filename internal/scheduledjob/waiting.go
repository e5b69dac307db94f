package scheduledjob

import (
	"fmt"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// waiting is what pending runs wait for.
type waiting struct {
	view    *view
	gate    *gate
	running []stintv1.Execution
	// startable are the runs that may start now.
	startable []stintv1.Execution
}

func (s *draft) waiting() waiting {
	return waiting{view: s.view, gate: &s.gate, running: s.executions.running.list, startable: s.startable()}
}

// explain sets the reason and message of each pending run: why it waits.
func (p *pending) explain(w waiting) {
	for i := range p.list {
		e := &p.list[i]
		reason, message := w.why(*e)
		p.addQueuedEvent(*e, reason, message)
		e.Reason, e.Message = reason, message
	}
}

// addQueuedEvent adds an event when a run begins to wait in the queue or for its template. When it then waits for something
// else, only its message changes.
func (p *pending) addQueuedEvent(e stintv1.Execution, reason, message string) {
	switch {
	case queued(reason) && !queued(e.Reason):
		p.events.addEvent(ReasonRunQueued, "Run %s %s", e.Tag, message)
	case reason == ReasonTemplateNotFound && e.Reason != reason:
		p.events.addWarning(ReasonTemplateNotFound, "Run %s %s", e.Tag, message)
	}
}

func queued(reason string) bool { return reason == ReasonQueued || reason == ReasonBlocked }

// why returns why a run waits; nothing if it may start.
func (w waiting) why(e stintv1.Execution) (reason, message string) {
	switch {
	case w.gate.holds(e):
		return w.gate.why()
	case !has(w.startable, e.Tag):
		return ReasonQueued, w.whyQueued()
	case w.view.Template == nil:
		return ReasonTemplateNotFound, missingTemplate(w.view.sj)
	case e.Reason == ReasonFailedCreate:
		return e.Reason, e.Message
	}
	return "", ""
}

func (w waiting) whyQueued() string {
	switch {
	case concurrent(w.view.sj):
		return fmt.Sprintf("waits: at most %d runs run at a time", maxRunning)
	case len(w.running) > 0:
		return "waits for run " + w.running[0].Tag
	default:
		return "waits for run " + w.startable[0].Tag
	}
}

func missingTemplate(sj *stintv1.ScheduledJob) string {
	if ref := sj.Spec.TemplateRef; ref != nil {
		return fmt.Sprintf("waits for PodTemplate %q", ref.Name)
	}
	return "waits for a template: the spec has neither template nor templateRef"
}
