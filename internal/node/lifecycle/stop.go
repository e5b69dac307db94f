package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// minGracePeriod is what a container gets even if the pod's grace period is over.
const minGracePeriod = 2 * time.Second

// stop stops the running containers: all but the sidecars at once, then the sidecars one by one, the last one first. Sidecars do
// not wait for ephemeral containers, which may ignore that they are told to stop, as shells do.
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
	if last >= 0 && len(p.runningWorkers()) == 0 {
		p.stopContainer(p.containers[last])
	}
}

// recordEnd adds an event for an end that has a reason.
func (p *plan) recordEnd() {
	if p.end.reason != "" {
		p.Events = append(p.Events, Event{
			Key: EventKey{Reason: p.end.reason}, Type: corev1.EventTypeWarning, Message: p.end.message,
		})
	}
}

// runningWorkers are the containers that sidecars serve.
func (p *plan) runningWorkers() []container {
	var workers []container
	for _, c := range p.containers {
		if c.role != sidecar && c.role != ephemeral && c.Running() {
			workers = append(workers, c)
		}
	}
	return workers
}

// stopContainer stops the container, unless it was already told to stop by then or earlier.
func (p *plan) stopContainer(c container) {
	by, least := p.end.deadline, p.Now.Add(minGracePeriod)
	if p.end.shortGrace {
		least = p.Now.Add(evictionGrace)
	}
	if by.Before(least) {
		by = least
	}
	// One second of tolerance: a deadline may come out slightly different when it is computed again.
	if !c.StopBy.IsZero() && !by.Before(c.StopBy.Add(-time.Second)) {
		return
	}
	p.Stop = append(p.Stop, Stop{ID: c.Last.ID, Grace: by.Sub(p.Now)})
	p.Events = append(p.Events, Killing(c.spec.Name, c.Last.Attempt))
}

// Killing returns the event for a container that is stopped.
func Killing(container string, attempt int32) Event {
	return Event{
		Key:     EventKey{Reason: "Killing", Container: container, Attempt: attempt},
		Type:    corev1.EventTypeNormal,
		Message: "Stopping container " + container,
	}
}
