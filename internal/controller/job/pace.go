package job

import (
	"time"

	core "github.com/stint-dev/stint/internal/job"
)

// haste is how long a change of numbers waits for others at most, unless the batch period is shorter.
const haste = 100 * time.Millisecond

// pace spreads the status writes of one Job. The first ended pod is listed at once, those that end meanwhile together
// a period later; what is listed is counted soon after: on a cluster once all are released (Controller.settle), on one
// machine with the next list where that is near. Numbers of living pods come along, or alone once a period:
//
//	list         list           numbers          list
//	 ├─haste─ count ├─haste─ count   │
//	 ├─── period ───┼───── period ───┤
//
// So a Job with many pods gets no more than two writes a period, whatever its pods do.
type pace struct {
	// waiting is since when a harmless write waits; zero for none.
	waiting time.Time
	// listed and wrote are the times of the last write that listed pods and of the last of any kind.
	listed, stored time.Time
}

// periodFor is longer for a Job with many pods: each write then tells of more, and costs more.
func periodFor(period time.Duration, pods int) time.Duration {
	return period + period*time.Duration(min(pods, crowd))/crowd
}

// due is when a status may be written that has patience.
func (p *pace) due(now time.Time, period time.Duration, patience core.Patience) time.Time {
	switch patience {
	case core.Urgent:
		return now
	case core.Holding:
		return p.listed.Add(period)
	}
	if p.waiting.IsZero() {
		p.waiting = now
	}
	soon := p.waiting.Add(min(period, haste))
	if next := p.stored.Add(period); p.stored.After(p.listed) && next.After(soon) {
		return next
	}
	return soon
}

func (p *pace) wrote(now time.Time, patience core.Patience) {
	p.waiting, p.stored = time.Time{}, now
	if patience != core.Harmless {
		p.listed = now
	}
}

// refusals are failures to create pods, one after the other.
type refusals struct {
	n    int
	last time.Time
	// forGood: the last one said that there will be no pods any more.
	forGood bool
}

const (
	// firstRefusal and maxRefusal bound the pause after a refusal, which doubles with each further one.
	firstRefusal = time.Second
	maxRefusal   = time.Minute
)

func (r *refusals) add(now time.Time, forGood bool) { r.n, r.last, r.forGood = r.n+1, now, forGood }

// ease makes the pause the shortest again: what was refused may be possible now.
func (r *refusals) ease() { r.n = min(r.n, 1) }

// until is the end of the pause.
func (r *refusals) until() time.Time {
	if r.n == 0 {
		return time.Time{}
	}
	return r.last.Add(min(firstRefusal<<min(r.n-1, 10), maxRefusal))
}
