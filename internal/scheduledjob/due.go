package scheduledjob

import (
	"time"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// maxPending bounds the scheduled runs that are listed as pending. Later ones stay due until there is room.
const maxPending = 100

// passDueTimes deals with every due time up to now: it becomes a run that is pending, or is skipped.
func (s *draft) passDueTimes() {
	if s.due == nil || s.changed {
		return
	}
	after := s.cursor()
	switch {
	case suspended(s.sj):
		s.skipAll(after)
	case skipsOutdated(s.sj):
		s.enqueueLatest(after)
	default:
		s.enqueue(after)
	}
}

// cursor is the last due time that has been dealt with.
func (s *draft) cursor() time.Time {
	if s.status.LastScheduleTime == nil {
		return time.Time{}
	}
	return s.status.LastScheduleTime.Time
}

// pass moves the cursor on, never back.
func (s *draft) pass(due time.Time) {
	if due.After(s.cursor()) {
		s.status.LastScheduleTime = written(due)
	}
}

func (s *draft) skipAll(after time.Time) {
	n, last := s.due.Count(after, s.now)
	if n == 0 {
		return
	}
	first, _ := s.due.Next(after)
	s.skipped.add(n-s.known(after), first, last)
	s.pass(last)
}

func (s *draft) enqueueLatest(after time.Time) {
	n, last := s.due.Count(after, s.now)
	if n == 0 {
		return
	}
	s.pass(last)
	n -= s.known(after)
	if !s.listed(dueTag(last)) {
		n--
		s.enqueueRun(last)
	}
	if n > 0 {
		first, _ := s.due.Next(after)
		_, before := s.due.Count(after, last.Add(-time.Second))
		s.skipped.add(n, first, before)
	}
}

func (s *draft) enqueue(after time.Time) {
	room := maxPending - s.scheduledPending()
	for _, due := range s.due.Due(after, s.now, max(0, room)+int(s.known(after))+1) {
		switch {
		case s.listed(dueTag(due)):
		case room <= 0:
			s.more = true
			return
		default:
			room--
			s.enqueueRun(due)
		}
		s.pass(due)
	}
}

func (s *draft) enqueueRun(due time.Time) {
	s.status.PendingExecutions = append(s.status.PendingExecutions, stintv1.Execution{
		Tag: dueTag(due), Trigger: stintv1.TriggerSchedule, Status: stintv1.ExecutionPending, DueAt: written(due), CreatedAt: written(due)})
}

// known is how many of the due times after the cursor are listed already: their runs started, and the status that said so
// was not written.
func (s *draft) known(after time.Time) int64 {
	var n int64
	for _, list := range s.lists() {
		for _, e := range list {
			if e.DueAt == nil || !e.DueAt.After(after) || e.DueAt.After(s.now) {
				continue
			}
			here, _ := s.due.Count(e.DueAt.Add(-time.Second), e.DueAt.Time)
			n += here
		}
	}
	return n
}

func (s *draft) lists() [][]stintv1.Execution {
	return [][]stintv1.Execution{s.status.RunningExecutions, s.status.CompletedExecutions, s.status.PendingExecutions}
}

func (s *draft) scheduledPending() int {
	n := 0
	for _, e := range s.status.PendingExecutions {
		if e.Trigger == stintv1.TriggerSchedule {
			n++
		}
	}
	return n
}
