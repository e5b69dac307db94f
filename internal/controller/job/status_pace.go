package job

import (
	"time"

	core "github.com/stint-dev/stint/internal/job"
)

// minStatusDelay is how long the first deferrable change waits for others, unless the batch period is shorter.
const minStatusDelay = 100 * time.Millisecond

// statusPace spreads the status writes of one Job. The first terminated pod is listed at once, those that terminate
// within a period of it together when that is over. What is listed moves to the counters soon after: on a cluster
// once all finalizers are removed (Controller.countRemovedFinalizers), on one machine with the next list of terminated
// pods, if it is due soon. Changed numbers of active pods are stored with these writes, or alone once a period. With d for
// minStatusDelay:
//
//	list         list       numbers          list
//	 ├─d─ counters ├─d─ counters │
//	 ├── period ───┼───── period ───┤
//
// So a Job with many pods has at most two writes a period, whatever its pods do, and two more for as many pods as lose their
// finalizers at the same time.
type statusPace struct {
	// waiting is since when a deferrable write waits; zero if none does.
	waiting time.Time
	// listed and stored are the times of the last write that listed pods, and of the last of any kind.
	listed, stored time.Time
}

// periodFor returns the batch period for a Job with so many pods. It grows to the double, as each write then has more
// changes and costs more.
func periodFor(period time.Duration, pods int) time.Duration {
	return period + period*time.Duration(min(pods, largeJobPods))/largeJobPods
}

// due returns when a status of this urgency may be written.
func (p *statusPace) due(now time.Time, period time.Duration, urgency core.WriteUrgency) time.Time {
	switch urgency {
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

func (p *statusPace) observeWrite(now time.Time, urgency core.WriteUrgency) {
	p.waiting, p.stored = time.Time{}, now
	if urgency != core.Deferrable {
		p.listed = now
	}
}
