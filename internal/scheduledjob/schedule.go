package scheduledjob

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/schedule"
)

// takeUp reads the schedule, and notes since when it is in force.
func (s *draft) takeUp() {
	was, spec := s.status.Schedule, s.sj.Spec.Schedule
	if spec == nil {
		s.status.Schedule = nil
		s.removeCondition(stintv1.ConditionInvalidSchedule)
		s.leave()
		return
	}
	zone := ptr.Deref(spec.TimeZone, "")
	if was == nil || was.TimeSpec != spec.TimeSpec || was.TimeZone != zone {
		if s.status.ObservedGeneration != 0 {
			s.changed = true
			s.leave()
		}
		s.status.Schedule = &stintv1.ObservedSchedule{TimeSpec: spec.TimeSpec, TimeZone: zone, Since: metav1.NewTime(s.since())}
	}
	s.parse()
}

// since is when a schedule is taken up: after all that was due by another one, as tags are times.
func (s *draft) since() time.Time {
	if !s.changed {
		return s.sj.CreationTimestamp.Time
	}
	return later(s.now, s.cursor().Add(time.Second))
}

// leave passes the due times of a schedule that is in force no longer, as far as they have become runs. Those to come are
// of people, who may add any tag.
func (s *draft) leave() {
	for _, list := range s.lists() {
		for _, e := range list {
			if e.DueAt != nil && !e.DueAt.After(s.now) {
				s.pass(e.DueAt.Time)
			}
		}
	}
}

func (s *draft) parse() {
	of := s.status.Schedule
	spec, err := schedule.Parse(of.TimeSpec)
	var zone *time.Location
	if err == nil {
		zone, err = schedule.LoadZone(of.TimeZone)
	}
	if err == nil {
		s.removeCondition(stintv1.ConditionInvalidSchedule)
		s.due = spec.In(zone, of.Since.Time)
		return
	}
	message := shortened(err.Error())
	if c := s.condition(stintv1.ConditionInvalidSchedule); c == nil || c.Message != message {
		s.warn(ReasonInvalidSchedule, "Nothing is due: %s", message)
	}
	s.setCondition(stintv1.ConditionInvalidSchedule, metav1.ConditionTrue, ReasonInvalidSchedule, message)
}

// lookAgain is when something becomes due, or now if due times are waiting for the room that runs make which start now.
func (s *draft) lookAgain(starting bool) time.Time {
	s.status.NextScheduleTime = nil
	if s.due == nil {
		return time.Time{}
	}
	next, ok := s.due.Next(later(s.now, s.cursor()))
	if ok {
		s.status.NextScheduleTime = written(next)
	}
	if s.changed || s.more && starting {
		return s.obs.Now
	}
	return next
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
