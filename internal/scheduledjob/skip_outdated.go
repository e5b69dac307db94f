package scheduledjob

import (
	"slices"
	"time"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// skipped are due times that pass without a run.
type skipped struct {
	n           int64
	first, last time.Time
}

func (s *skipped) add(n int64, first, last time.Time) {
	if n <= 0 {
		return
	}
	if s.n == 0 || first.Before(s.first) {
		s.first = first
	}
	s.n, s.last = s.n+n, later(s.last, last)
}

// skipOutdated leaves only the latest of the scheduled runs that wait.
func (s *draft) skipOutdated() {
	if !skipsOutdated(s.sj) {
		return
	}
	var latest time.Time
	for _, e := range s.status.PendingExecutions {
		if e.Trigger == stintv1.TriggerSchedule {
			latest = later(latest, e.DueAt.Time)
		}
	}
	s.status.PendingExecutions = slices.DeleteFunc(s.status.PendingExecutions, func(e stintv1.Execution) bool {
		outdated := e.Trigger == stintv1.TriggerSchedule && e.DueAt.Time.Before(latest)
		if outdated {
			s.skipped.add(1, e.DueAt.Time, e.DueAt.Time)
		}
		return outdated
	})
}

func (s *draft) tellSkipped() {
	if s.skipped.n == 0 {
		return
	}
	s.status.SkippedCount += s.skipped.n
	first, last := s.skipped.first.UTC().Format(time.RFC3339), s.skipped.last.UTC().Format(time.RFC3339)
	if s.skipped.n == 1 {
		s.tell(ReasonRunsSkipped, "Skipped the run that was due at %s", last)
		return
	}
	s.tell(ReasonRunsSkipped, "Skipped %d runs that were due from %s to %s", s.skipped.n, first, last)
}
