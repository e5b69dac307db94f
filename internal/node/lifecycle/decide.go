package lifecycle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

type role int

const (
	// initial containers run one by one before the others, to success.
	initial role = iota
	// sidecar is an init container that runs on beside the main ones.
	sidecar
	main
)

// container is one container with its part in the pod and its past.
type container struct {
	c    *corev1.Container
	role role
	History
}

// plan is a decision in the making.
type plan struct {
	Observation
	// containers in the order of the spec, init containers first.
	containers []container
	// end is nil while the pod is to go on.
	end *cause
	Decision
}

// Decide returns what to do about the pod. The same observation always gives the same decision.
func Decide(o Observation) Decision {
	p := &plan{Observation: o, containers: unitsOf(o)}
	for _, applies := range causes {
		if p.end = applies(p); p.end != nil {
			break
		}
	}
	switch {
	case p.end != nil:
		p.announceEnd()
		p.stop()
	case p.Placed:
		p.start()
	default:
		return p.Decision
	}
	p.report()
	return p.Decision
}

func unitsOf(o Observation) []container {
	spec := &o.Pod.Spec
	units := make([]container, 0, len(spec.InitContainers)+len(spec.Containers))
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		units = append(units, container{c: c, role: roleOfInit(c), History: o.Containers[c.Name]})
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		units = append(units, container{c: c, role: main, History: o.Containers[c.Name]})
	}
	return units
}

func roleOfInit(c *corev1.Container) role {
	if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
		return sidecar
	}
	return initial
}

// start begins whatever may run now: init containers one after the other, then the main ones all together.
func (p *plan) start() {
	if limit, ok := p.limit(); ok {
		p.requeueAt(limit)
	}
	initialized := p.initialized()
	for _, u := range p.containers {
		switch {
		case u.role == initial && (initialized || u.Exited() && u.Last.ExitCode == 0):
			continue
		case u.role == main && !initialized:
			return
		}
		if !u.Running() {
			p.attempt(u)
		}
		if u.role == main || u.role == sidecar && (initialized || u.Running()) {
			continue
		}
		return
	}
}

// initialized tells whether the main containers may run. Once one of them has, init containers are never run again.
func (p *plan) initialized() bool {
	done := true
	for _, u := range p.containers {
		switch {
		case u.role == main && u.Last != nil:
			return true
		case u.role == initial:
			done = done && u.Exited() && u.Last.ExitCode == 0
		case u.role == sidecar:
			done = done && u.Running()
		}
	}
	return done
}

// attempt starts the container, unless it has ended for good or must wait.
func (p *plan) attempt(u container) {
	if u.Exited() {
		if u.role == main && !restarts(p.Pod, u.c, u.Last.ExitCode) {
			return
		}
		if until := u.Last.FinishedAt.Add(u.backOff()); p.Now.Before(until) {
			p.requeueAt(until)
			p.notice("BackOff", corev1.EventTypeWarning, u, backOffMessage(p.Pod, u))
			return
		}
	}
	if h, hindered := p.StartFailures[u.c.Name]; hindered && p.Now.Before(h.RetryAt) {
		p.requeueAt(h.RetryAt)
		return
	}
	p.Start = append(p.Start, Start{Container: u.c, Attempt: u.next()})
}

func backOffMessage(pod *corev1.Pod, u container) string {
	return fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
		u.backOff(), u.c.Name, pod.Name, pod.Namespace, pod.UID)
}

func (p *plan) requeueAt(t time.Time) {
	if p.RequeueAt.IsZero() || t.Before(p.RequeueAt) {
		p.RequeueAt = t
	}
}

func (p *plan) notice(reason, kind string, u container, message string) {
	key := EventKey{Reason: reason, Container: u.c.Name}
	if u.Last != nil {
		key.Attempt = u.Last.Attempt
	}
	p.Events = append(p.Events, Event{Key: key, Type: kind, Message: message})
}

func (p *plan) anyStarted() bool {
	for _, u := range p.containers {
		if u.Last != nil {
			return true
		}
	}
	return false
}
