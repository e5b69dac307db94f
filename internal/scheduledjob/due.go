package scheduledjob

import (
	"time"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/schedule"
)

// maxPending bounds the scheduled runs that are listed as pending. Later ones stay due until there is room.
const maxPending = 100

// dueTimes are those of the schedule after the last handled one, up to now.
type dueTimes struct {
	schedule   schedule.Schedule
	after, now time.Time
	// executions may list some of these due times already: their runs started, but the status write after that failed.
	executions *executions
}

// passed is what was decided about due times.
type passed struct {
	runs    []time.Time
	skipped skipped
	// last is the last due time that was handled; zero for none.
	last time.Time
	// more reports whether there are others, which stay due until there is room among the pending runs.
	more bool
}

// pass makes each due time a pending run or skips it.
func (d dueTimes) pass(sj *stintv1.ScheduledJob) passed {
	switch {
	case suspended(sj):
		return d.skipAll()
	case skipsOutdated(sj):
		return d.runLatest()
	default:
		return d.runAll()
	}
}

func (d dueTimes) skipAll() (p passed) {
	n, last := d.schedule.Count(d.after, d.now)
	if n == 0 {
		return p
	}
	first, _ := d.schedule.Next(d.after)
	p.skipped.add(skipped{n - d.known(), first, last})
	p.last = last
	return p
}

func (d dueTimes) runLatest() (p passed) {
	n, last := d.schedule.Count(d.after, d.now)
	if n == 0 {
		return p
	}
	p.last = last
	n -= d.known()
	if !d.executions.listed(dueTag(last)) {
		n--
		p.runs = []time.Time{last}
	}
	if n > 0 {
		first, _ := d.schedule.Next(d.after)
		_, before := d.schedule.Count(d.after, last.Add(-time.Second))
		p.skipped = skipped{n, first, before}
	}
	return p
}

func (d dueTimes) runAll() (p passed) {
	room := max(0, maxPending-d.executions.pending.scheduled())
	for _, due := range d.schedule.Due(d.after, d.now, room+int(d.known())+1) {
		switch {
		case d.executions.listed(dueTag(due)):
		case len(p.runs) == room:
			p.more = true
			return p
		default:
			p.runs = append(p.runs, due)
		}
		p.last = due
	}
	return p
}

// known returns how many of the due times are listed as runs.
func (d dueTimes) known() int64 {
	var n int64
	for _, e := range d.executions.all() {
		if e.DueAt == nil || !e.DueAt.After(d.after) || e.DueAt.After(d.now) {
			continue
		}
		here, _ := d.schedule.Count(e.DueAt.Add(-time.Second), e.DueAt.Time)
		n += here
	}
	return n
}
