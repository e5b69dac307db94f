package lifecycle

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// minGracePeriod is what a container gets even if the pod's grace period is over.
const minGracePeriod = 2 * time.Second

// stop stops the running containers: all but the sidecars at once, then the sidecars one by one, the last one first. The
// preStop hooks of sidecars run at once too. Sidecars do not wait for ephemeral containers, which may ignore that they are told
// to stop, as shells do.
func (p *plan) stop() {
	mayStopSidecar := !p.anyWorkerRuns()
	p.Ended = true
	for _, c := range slices.Backward(p.containers) {
		if !c.Running() {
			continue
		}
		p.Ended = false
		o := p.end.order(c)
		if c.role == sidecar {
			o.hookOnly = !mayStopSidecar
			mayStopSidecar = false
		}
		p.stopContainer(c, o)
	}
}

// order returns how a container is stopped when the pod ends.
func (e *cause) order(c container) order {
	o := order{by: e.deadline, least: minGracePeriod, message: stopping(c.spec.Name)}
	if e.shortGrace {
		o.least = evictionGrace
	}
	return o
}

// recordEnd adds an event for an end that has a reason.
func (p *plan) recordEnd() {
	if p.end.reason != "" {
		p.Events = append(p.Events, Event{
			Key: EventKey{Reason: p.end.reason}, Type: corev1.EventTypeWarning, Message: p.end.message,
		})
	}
}

// anyWorkerRuns reports whether a container runs that sidecars serve.
func (p *plan) anyWorkerRuns() bool {
	return slices.ContainsFunc(p.containers, func(c container) bool {
		return (c.role == main || c.role == initial) && c.Running()
	})
}

// order is how a container is to be stopped.
type order struct {
	// by is when the grace period is over; least is what the container gets in any case once it is told to stop.
	by    time.Time
	least time.Duration
	// message is that of the event.
	message string
	// hookOnly: the preStop hook may run, but it is not yet the container's turn to stop.
	hookOnly bool
}

// tolerance: a deadline may come out slightly different when it is computed again.
const tolerance = time.Second

// stopContainer runs the container's preStop hook, and tells it to stop when that has ended or the grace period is over.
func (p *plan) stopContainer(c container, o order) {
	told := !c.StopBy.IsZero()
	if told && c.StopBy.Before(o.by.Add(tolerance)) {
		o.by = c.StopBy
	}
	switch {
	case !told && c.hasPreStop() && p.Now.Before(o.by):
		p.tell(c, o, Stop{ID: c.Last.ID, Grace: o.by.Sub(p.Now), PreStop: true})
		p.requeueAt(o.by)
	case c.PreStop == HookRuns && p.Now.Before(o.by):
		if o.by.Before(c.StopBy) {
			p.tell(c, o, Stop{ID: c.Last.ID, Grace: o.by.Sub(p.Now), PreStop: true})
		}
		p.requeueAt(o.by)
	case o.hookOnly:
	case told && c.PreStop == HookIdle && !p.latest(o).Before(c.StopBy.Add(-tolerance)):
		// It was told already to stop by then or earlier.
	default:
		p.tell(c, o, Stop{ID: c.Last.ID, Grace: p.latest(o).Sub(p.Now)})
	}
}

// latest is when a container that is told to stop now will have been killed.
func (p *plan) latest(o order) time.Time {
	if least := p.Now.Add(o.least); o.by.Before(least) {
		return least
	}
	return o.by
}

func (p *plan) tell(c container, o order, s Stop) {
	p.Stop = append(p.Stop, s)
	p.Events = append(p.Events, killing(c.spec.Name, c.Last.Attempt, o.message))
}

// Killing returns the event for a container that is stopped.
func Killing(container string, attempt int32) Event {
	return killing(container, attempt, stopping(container))
}

func stopping(container string) string { return "Stopping container " + container }

func killing(container string, attempt int32, message string) Event {
	return Event{
		Key:     EventKey{Reason: "Killing", Container: container, Attempt: attempt},
		Type:    corev1.EventTypeNormal,
		Message: message,
	}
}
