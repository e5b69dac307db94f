package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// leastGrace is what a container gets to end in even when the pod's grace is used up.
const leastGrace = 2 * time.Second

// stop ends what runs: all but the sidecars at once, then the sidecars one by one, the last one first.
func (p *plan) stop() {
	running, last := 0, -1
	for i, u := range p.units {
		if !u.Running() {
			continue
		}
		running++
		if u.role == sidecar {
			last = i
			continue
		}
		p.stopUnit(u)
	}
	p.Ended = running == 0
	if last >= 0 && len(p.runningWorkers()) == 0 {
		p.stopUnit(p.units[last])
	}
}

// announceEnd tells of an end that has a reason of its own.
func (p *plan) announceEnd() {
	if p.end.reason != "" {
		p.Notices = append(p.Notices, Notice{
			Key: NoticeKey{Reason: p.end.reason}, Type: corev1.EventTypeWarning, Message: p.end.message,
		})
	}
}

func (p *plan) runningWorkers() []unit {
	var workers []unit
	for _, u := range p.units {
		if u.role != sidecar && u.Running() {
			workers = append(workers, u)
		}
	}
	return workers
}

// stopUnit asks for the container's end unless it has been asked to end as soon already.
func (p *plan) stopUnit(u unit) {
	by, least := p.end.deadline, p.Now.Add(leastGrace)
	if p.end.hasty {
		least = p.Now.Add(evictionGrace)
	}
	if by.Before(least) {
		by = least
	}
	// A second of slack: a deadline that is only computed a little differently is the same.
	if !u.StopBy.IsZero() && !by.Before(u.StopBy.Add(-time.Second)) {
		return
	}
	p.Stop = append(p.Stop, Stop{ID: u.Last.ID, Grace: by.Sub(p.Now)})
	p.Notices = append(p.Notices, Killing(u.c.Name, u.Last.Attempt))
}

// Killing tells that a container is stopped.
func Killing(container string, attempt int32) Notice {
	return Notice{
		Key:     NoticeKey{Reason: "Killing", Container: container, Attempt: attempt},
		Type:    corev1.EventTypeNormal,
		Message: "Stopping container " + container,
	}
}
