package scheduledjob

import (
	"slices"
	"time"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// skipped counts due times that pass without a run.
type skipped struct {
	n           int64
	first, last time.Time
}

func (s *skipped) add(more skipped) {
	if more.n <= 0 {
		return
	}
	if s.n == 0 || more.first.Before(s.first) {
		s.first = more.first
	}
	s.n, s.last = s.n+more.n, later(s.last, more.last)
}

// skipOutdated removes all pending scheduled runs but the latest.
func (p *pending) skipOutdated() (gone skipped) {
	var latest time.Time
	for _, e := range p.list {
		if e.Trigger == stintv1.TriggerSchedule {
			latest = later(latest, e.DueAt.Time)
		}
	}
	p.list = slices.DeleteFunc(p.list, func(e stintv1.Execution) bool {
		outdated := e.Trigger == stintv1.TriggerSchedule && e.DueAt.Time.Before(latest)
		if outdated {
			gone.add(skipped{1, e.DueAt.Time, e.DueAt.Time})
		}
		return outdated
	})
	return gone
}

// skip counts due times that are skipped, and records an event for them.
func (s *draft) skip(gone skipped) {
	if gone.n == 0 {
		return
	}
	s.skippedCount += gone.n
	first, last := gone.first.UTC().Format(time.RFC3339), gone.last.UTC().Format(time.RFC3339)
	if gone.n == 1 {
		s.events.addEvent(ReasonRunsSkipped, "Skipped the run that was due at %s", last)
		return
	}
	s.events.addEvent(ReasonRunsSkipped, "Skipped %d runs that were due from %s to %s", gone.n, first, last)
}
