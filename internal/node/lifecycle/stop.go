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
	for i, c := range p.containers {
		if !c.Running() {
			continue
		}
		running++
		if c.role == sidecar {
			last = i
			continue
		}
		p.stopContainer(c)
	}
	p.Ended = running == 0
	if last >= 0 && len(p.runningExceptSidecars()) == 0 {
		p.stopContainer(p.containers[last])
	}
}

// recordEnd tells of an end that has a reason of its own.
func (p *plan) recordEnd() {
	if p.end.reason != "" {
		p.Events = append(p.Events, Event{
			Key: EventKey{Reason: p.end.reason}, Type: corev1.EventTypeWarning, Message: p.end.message,
		})
	}
}

func (p *plan) runningExceptSidecars() []container {
	var workers []container
	for _, c := range p.containers {
		if c.role != sidecar && c.Running() {
			workers = append(workers, c)
		}
	}
	return workers
}

// stopContainer asks for the container's end unless it has been asked to end as soon already.
func (p *plan) stopContainer(c container) {
	by, least := p.end.deadline, p.Now.Add(minGracePeriod)
	if p.end.shortGrace {
		least = p.Now.Add(evictionGrace)
	}
	if by.Before(least) {
		by = least
	}
	// A second of slack: a deadline that is only computed a little differently is the same.
	if !c.StopBy.IsZero() && !by.Before(c.StopBy.Add(-time.Second)) {
		return
	}
	p.Stop = append(p.Stop, Stop{ID: c.Last.ID, Grace: by.Sub(p.Now)})
	p.Events = append(p.Events, Killing(c.spec.Name, c.Last.Attempt))
}

// Killing tells that a container is stopped.
func Killing(container string, attempt int32) Event {
	return Event{
		Key:     EventKey{Reason: "Killing", Container: container, Attempt: attempt},
		Type:    corev1.EventTypeNormal,
		Message: "Stopping container " + container,
	}
}
