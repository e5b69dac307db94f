package probe

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Kind is one of the three probes that a container can have.
type Kind string

// The kinds of probes, as users read them in events.
const (
	Startup   Kind = "Startup"
	Readiness Kind = "Readiness"
	Liveness  Kind = "Liveness"
)

// Result is what a probe has found.
type Result string

// The results of a probe.
const (
	Success Result = "success"
	Failure Result = "failure"
	// Unknown is that of a probe that could not be run. It does not count.
	Unknown Result = "unknown"
)

// Attempt follows the probes of one attempt at a container. A nil Attempt is one of a container without probes.
type Attempt struct {
	// Each is nil if the container has no such probe.
	startup, readiness, liveness *track
}

// SpecOf returns the container's probe of a kind; nil if it has none.
func SpecOf(c *corev1.Container, kind Kind) *corev1.Probe {
	switch kind {
	case Startup:
		return c.StartupProbe
	case Readiness:
		return c.ReadinessProbe
	}
	return c.LivenessProbe
}

// Begin returns the probes of an attempt that has just started; nil if its container has none.
func Begin(c *corev1.Container, startedAt time.Time) *Attempt {
	if c.StartupProbe == nil && c.ReadinessProbe == nil && c.LivenessProbe == nil {
		return nil
	}
	a := &Attempt{}
	if c.StartupProbe != nil {
		a.startup = newTrack(Startup, c.StartupProbe, startedAt)
	}
	if c.LivenessProbe != nil {
		a.liveness = newTrack(Liveness, c.LivenessProbe, startedAt)
	}
	if c.ReadinessProbe != nil {
		a.readiness = newTrack(Readiness, c.ReadinessProbe, startedAt)
		a.readiness.restart(startedAt)
	}
	return a
}

// Resumption is what is known of an attempt that an earlier run of the node has started.
type Resumption struct {
	// Started and Ready are what the pod's status says of the attempt.
	Started, Ready bool
	Now            time.Time
	// Delay returns how long to wait for the first run of a probe with such a period, so that not all probes of a node
	// run at once after its restart.
	Delay func(period time.Duration) time.Duration
}

// Resume returns the probes of an attempt that ran before this node did; nil if its container has none.
func Resume(c *corev1.Container, startedAt time.Time, r Resumption) *Attempt {
	a := Begin(c, startedAt)
	for _, t := range a.tracks() {
		t.restart(r.Now.Add(r.Delay(t.period())))
	}
	if a != nil && a.startup != nil && r.Started {
		a.startup.inForce, a.startup.decided = Success, true
	}
	if a != nil && a.readiness != nil && r.Ready {
		a.readiness.inForce = Success
	}
	return a
}

// tracks lists the probes that the container has.
func (a *Attempt) tracks() []*track {
	if a == nil {
		return nil
	}
	tracks := make([]*track, 0, 3)
	for _, t := range []*track{a.startup, a.readiness, a.liveness} {
		if t != nil {
			tracks = append(tracks, t)
		}
	}
	return tracks
}

// Started reports whether the startup probe has succeeded, if there is one.
func (a *Attempt) Started() bool {
	return a == nil || a.startup == nil || a.startup.inForce == Success
}

// Ready reports whether the readiness probe succeeds, if there is one.
func (a *Attempt) Ready() bool {
	return a.Started() && (a == nil || a.readiness == nil || a.readiness.inForce == Success)
}

// Failed returns the probe because of which the attempt must end.
func (a *Attempt) Failed() (Kind, bool) {
	for _, t := range a.tracks() {
		if t.kind != Readiness && t.inForce == Failure {
			return t.kind, true
		}
	}
	return "", false
}

// waits reports whether the probe is to run at its next tick.
func (a *Attempt) waits(t *track) bool {
	return !t.running && !t.decided && a.Started() == (t.kind != Startup)
}

// Next returns when the next probe is due; zero if none is before the result of another.
func (a *Attempt) Next() (next time.Time) {
	for _, t := range a.tracks() {
		if due := t.due(); a.waits(t) && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return next
}

// Start returns the probes that are due. They count as running until their results are observed.
func (a *Attempt) Start(now time.Time) (due []Kind) {
	for _, t := range a.tracks() {
		if a.waits(t) && !now.Before(t.due()) {
			t.running = true
			t.skipTo(now)
			due = append(due, t.kind)
		}
	}
	return due
}

// Observe takes the result of a probe that Start has returned.
func (a *Attempt) Observe(kind Kind, r Result, now time.Time) {
	for _, t := range a.tracks() {
		if t.kind != kind {
			continue
		}
		t.running = false
		if r == Unknown || !t.observe(r) {
			return
		}
		t.decided = kind == Startup || kind == Liveness && r == Failure
		if kind == Startup && r == Success {
			a.begin(now)
		}
	}
}

// begin starts the probes that the startup probe has held back.
func (a *Attempt) begin(now time.Time) {
	if a.readiness != nil {
		a.readiness.restart(now)
	}
	if a.liveness != nil {
		a.liveness.skipTo(now)
	}
}
