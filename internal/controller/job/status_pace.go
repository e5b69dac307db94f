package job

import (
	"time"

	core "github.com/stint-dev/stint/internal/job"
)

// minStatusDelay is how long a change of numbers waits for others at most, unless the batch period is shorter.
const minStatusDelay = 100 * time.Millisecond

// statusPace spreads the status writes of one Job. The first ended pod is listed at once, those that end meanwhile together
// a period later; what is listed is counted soon after: on a cluster once all are released (Controller.settle), on one
// machine with the next list where that is near. Numbers of living pods come along, or alone once a period:
//
//	list         list           numbers          list
//	 ├─haste─ count ├─haste─ count   │
//	 ├─── period ───┼───── period ───┤
//
// So a Job with many pods gets no more than two writes a period, whatever its pods do.
type statusPace struct {
	// waiting is since when a harmless write waits; zero for none.
	waiting time.Time
	// listed and wrote are the times of the last write that listed pods and of the last of any kind.
	listed, stored time.Time
}

// periodFor is longer for a Job with many pods: each write then tells of more, and costs more.
func periodFor(period time.Duration, pods int) time.Duration {
	return period + period*time.Duration(min(pods, largeJobPods))/largeJobPods
}

// due is when a status may be written that has patience.
func (p *statusPace) due(now time.Time, period time.Duration, patience core.WriteUrgency) time.Time {
	switch patience {
	case core.Immediate:
		return now
	case core.Batched:
		return p.listed.Add(period)
	}
	if p.waiting.IsZero() {
		p.waiting = now
	}
	soon := p.waiting.Add(min(period, minStatusDelay))
	if next := p.stored.Add(period); p.stored.After(p.listed) && next.After(soon) {
		return next
	}
	return soon
}

func (p *statusPace) observeWrite(now time.Time, patience core.WriteUrgency) {
	p.waiting, p.stored = time.Time{}, now
	if patience != core.Deferrable {
		p.listed = now
	}
}
