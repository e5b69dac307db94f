package scheduledjob

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/schedule"
)

// timetable is the schedule in force, and how far its due times have been handled. It owns the condition InvalidSchedule.
type timetable struct {
	view       *view
	conditions *conditions
	events     *events

	observed *stintv1.ObservedSchedule
	cursor   cursor
	next     *metav1.Time
	// due is the parsed schedule; nil if there is none or it is invalid, so that nothing is due.
	due schedule.Schedule
	// changed reports whether the schedule differs from status.schedule: it must be written before any of its times is due.
	changed bool
}

// readSchedule parses the schedule of the spec, and records since when it is in force.
func (t *timetable) readSchedule(x *executions) {
	was, spec := t.observed, t.view.sj.Spec.Schedule
	if spec == nil {
		t.observed = nil
		t.conditions.remove(stintv1.ConditionInvalidSchedule)
		t.closeSchedule(x)
		return
	}
	zone := ptr.Deref(spec.TimeZone, "")
	if was == nil || was.TimeSpec != spec.TimeSpec || was.TimeZone != zone {
		if t.view.sj.Status.ObservedGeneration != 0 {
			t.changed = true
			t.closeSchedule(x)
		}
		t.observed = &stintv1.ObservedSchedule{TimeSpec: spec.TimeSpec, TimeZone: zone, Since: metav1.NewTime(t.since())}
	}
	t.parse()
}

// since is when a new schedule comes into force: after all due times that the one before has handled, as runs of equal due
// times have equal tags.
func (t *timetable) since() time.Time {
	if !t.changed {
		return t.view.sj.CreationTimestamp.Time
	}
	return later(t.view.now, t.cursor.time().Add(time.Second))
}

// closeSchedule moves the cursor past the due times of the old schedule that have become runs. Due times in the future do not
// count: users may add a run with any tag.
func (t *timetable) closeSchedule(x *executions) {
	for _, e := range x.all() {
		if e.DueAt != nil && !e.DueAt.After(t.view.now) {
			t.cursor.pass(e.DueAt.Time)
		}
	}
}

func (t *timetable) parse() {
	spec, err := schedule.Parse(t.observed.TimeSpec)
	var zone *time.Location
	if err == nil {
		zone, err = schedule.LoadZone(t.observed.TimeZone)
	}
	if err == nil {
		t.conditions.remove(stintv1.ConditionInvalidSchedule)
		t.due = spec.In(zone, t.observed.Since.Time)
		return
	}
	message := shortened(err.Error())
	if c := t.conditions.find(stintv1.ConditionInvalidSchedule); c == nil || c.Message != message {
		t.events.addWarning(ReasonInvalidSchedule, "Nothing is due: %s", message)
	}
	t.conditions.set(stintv1.ConditionInvalidSchedule, metav1.ConditionTrue, ReasonInvalidSchedule, message)
}

// pass handles the due times up to now.
func (t *timetable) pass(x *executions) passed {
	if t.due == nil || t.changed {
		return passed{}
	}
	p := dueTimes{schedule: t.due, after: t.cursor.time(), now: t.view.now, executions: x}.pass(t.view.sj)
	t.cursor.pass(p.last)
	return p
}

// requeueAt returns the next due time; now if the schedule has changed, or if there will be room for due times that wait.
func (t *timetable) requeueAt(room bool) time.Time {
	t.next = nil
	if t.due == nil {
		return time.Time{}
	}
	next, ok := t.due.Next(later(t.view.now, t.cursor.time()))
	if ok {
		t.next = metaTime(next)
	}
	if t.changed || room {
		return t.view.Now
	}
	return next
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
