package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// minGracePeriod is what a container gets to end in even when the pod's grace is used up.
const minGracePeriod = 2 * time.Second

// stop ends what runs: all but the sidecars at once, then the sidecars one by one, the last one first.
func (p *plan) stop() {
	running, last := 0, -1
	for i, u := range p.containers {
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
		p.stopUnit(p.containers[last])
	}
}

// announceEnd tells of an end that has a reason of its own.
func (p *plan) announceEnd() {
	if p.end.reason != "" {
		p.Events = append(p.Events, Event{
			Key: EventKey{Reason: p.end.reason}, Type: corev1.EventTypeWarning, Message: p.end.message,
		})
	}
}

func (p *plan) runningWorkers() []container {
	var workers []container
	for _, u := range p.containers {
		if u.role != sidecar && u.Running() {
			workers = append(workers, u)
		}
	}
	return workers
}

// stopUnit asks for the container's end unless it has been asked to end as soon already.
func (p *plan) stopUnit(u container) {
	by, least := p.end.deadline, p.Now.Add(minGracePeriod)
	if p.end.shortGrace {
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
	p.Events = append(p.Events, Killing(u.c.Name, u.Last.Attempt))
}

// Killing tells that a container is stopped.
func Killing(container string, attempt int32) Event {
	return Event{
		Key:     EventKey{Reason: "Killing", Container: container, Attempt: attempt},
		Type:    corev1.EventTypeNormal,
		Message: "Stopping container " + container,
	}
}
