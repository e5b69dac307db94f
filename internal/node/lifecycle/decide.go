package lifecycle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

type role int

const (
	// initial is an init container. These run one after the other before the main ones, each until it succeeds.
	initial role = iota
	// sidecar is an init container that runs on beside the main ones.
	sidecar
	main
	// ephemeral is a container that was added while the pod runs.
	ephemeral
)

// container is a container of the pod with its role and its attempts.
type container struct {
	spec *corev1.Container
	role role
	// target is the container whose process ids an ephemeral container shares; empty if it shares none.
	target string
	History
	// outdated: its newest attempt is from before all containers of the pod were to restart.
	outdated bool
}

// plan is a decision while it is being made.
type plan struct {
	Observation
	// containers in the order of the spec: init containers first, ephemeral ones last.
	containers []container
	// end is nil while the pod is to run on.
	end *cause
	Decision
}

// Decide returns what to do about the pod. The same observation always gives the same decision.
func Decide(o Observation) Decision {
	p := &plan{Observation: o, containers: containersOf(o)}
	p.restartAll()
	for _, applies := range causes {
		if p.end = applies(p); p.end != nil {
			break
		}
	}
	switch {
	case p.end != nil:
		p.Ending = true
		p.recordEnd()
		p.stop()
	case p.Admitted:
		p.start()
	default:
		return p.Decision
	}
	p.report()
	return p.Decision
}

func containersOf(o Observation) []container {
	spec := &o.Pod.Spec
	containers := make([]container, 0, len(spec.InitContainers)+len(spec.Containers)+len(spec.EphemeralContainers))
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		containers = append(containers, container{spec: c, role: roleOfInit(c), History: o.Containers[c.Name]})
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		containers = append(containers, container{spec: c, role: main, History: o.Containers[c.Name]})
	}
	for i := range spec.EphemeralContainers {
		e := &spec.EphemeralContainers[i]
		c := (*corev1.Container)(&e.EphemeralContainerCommon)
		containers = append(containers, container{spec: c, role: ephemeral, target: e.TargetContainerName, History: o.Containers[c.Name]})
	}
	return containers
}

func roleOfInit(c *corev1.Container) role {
	if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
		return sidecar
	}
	return initial
}

// start starts the containers that may run now: init containers one after the other, then the main ones all together, and
// ephemeral ones at any time, except while all the others are stopped to restart.
func (p *plan) start() {
	if limit, ok := p.activeDeadline(); ok {
		p.requeueAt(limit)
	}
	p.stopUnhealthy()
	if p.stopOutdated() || p.pauses() {
		return
	}
	p.startEphemeral()
	initialized := p.initialized()
	for _, c := range p.containers {
		switch {
		case c.role == ephemeral, c.role == initial && (initialized || c.Exited() && c.Last.ExitCode == 0):
			continue
		case c.role == main && !initialized:
			return
		}
		if !c.Running() {
			p.attempt(c)
		}
		if !p.nextStarts(c, initialized) {
			return
		}
	}
}

// nextStarts reports whether the container after this one may start too. Every container waits for the postStart hook of
// the one before.
func (p *plan) nextStarts(c container, initialized bool) bool {
	if c.PostStart == HookRuns || p.starts(c) && c.hasPostStart() {
		return false
	}
	return c.role == main || c.role == sidecar && (initialized || c.started())
}

// initialized reports whether the main containers may run. Once one of them was started, init containers are never run
// again.
func (p *plan) initialized() bool {
	done := true
	for _, c := range p.containers {
		switch {
		case c.role == main && c.Last != nil && !c.outdated:
			return true
		case c.role == initial:
			done = done && c.Exited() && c.Last.ExitCode == 0
		case c.role == sidecar:
			done = done && c.started()
		}
	}
	return done
}

// attempt starts the container, unless it has ended for good or must wait.
func (p *plan) attempt(c container) {
	if c.Exited() && c.role == main && !c.restarts(p.Pod) {
		return
	}
	if c.Exited() {
		if until := c.Last.FinishedAt.Add(c.backOff()); p.Now.Before(until) {
			p.requeueAt(until)
			p.addEvent("BackOff", corev1.EventTypeWarning, c, backOffMessage(p.Pod, c))
			return
		}
	}
	if f, failed := p.StartFailures[c.spec.Name]; failed && p.Now.Before(f.RetryAt) {
		p.requeueAt(f.RetryAt)
		return
	}
	p.Start = append(p.Start, Start{Container: c.spec, Attempt: c.next(), Target: p.targetOf(c)})
}

func backOffMessage(pod *corev1.Pod, c container) string {
	return fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
		c.backOff(), c.spec.Name, pod.Name, pod.Namespace, pod.UID)
}

func (p *plan) requeueAt(t time.Time) {
	if p.RequeueAt.IsZero() || t.Before(p.RequeueAt) {
		p.RequeueAt = t
	}
}

func (p *plan) addEvent(reason, kind string, c container, message string) {
	key := EventKey{Reason: reason, Container: c.spec.Name}
	if c.Last != nil {
		key.Attempt = c.Last.Attempt
	}
	p.Events = append(p.Events, Event{Key: key, Type: kind, Message: message})
}

func (p *plan) anyStarted() bool {
	for _, c := range p.containers {
		if c.Last != nil {
			return true
		}
	}
	return false
}
