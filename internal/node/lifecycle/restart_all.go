package lifecycle

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// A container can have a rule that restarts all containers of its pod. Then those that run are killed, and the pod begins
// again with its first init container. What an attempt that began before has come to does not count any more. Ephemeral
// containers never restart, so they are left alone, as by a kubelet.

// restartingAll is a kubelet's waiting reason for these containers.
const restartingAll = "RestartingAllContainers"

// restartAll sets which containers are outdated.
func (p *plan) restartAll() {
	p.Decision.RestartAll = p.Observation.RestartAll
	for _, c := range p.containers {
		for _, s := range []*runtime.Status{c.Last, c.Previous} {
			if triggers(c.spec, s) && s.FinishedAt.After(p.Decision.RestartAll) && !p.overAt(s.FinishedAt) {
				p.Decision.RestartAll = s.FinishedAt
			}
		}
	}
	for i := range p.containers {
		p.containers[i].outdated = p.containers[i].endsBefore(p.Decision.RestartAll)
	}
}

// overAt reports whether the pod had come to its end by a time. A sidecar that exits after that restarts nothing.
func (p *plan) overAt(t time.Time) bool {
	completed := true
	for _, c := range p.containers {
		exited := c.Exited() && !c.Last.FinishedAt.After(t)
		if c.role == initial && exited && c.Last.ExitCode != 0 && !restartsInit(p.Pod, c.spec, c.Last.ExitCode) {
			return true
		}
		completed = completed && (c.role != main || exited && !c.restarts(p.Pod))
	}
	return completed
}

// triggers reports whether an attempt has exited in a way that restarts all containers.
func triggers(c *corev1.Container, s *runtime.Status) bool {
	return s != nil && s.State == runtime.Exited &&
		ruleFor(c, s.ExitCode) == corev1.ContainerRestartRuleActionRestartAllContainers
}

// endsBefore reports whether the newest attempt belongs to the time before all containers were to restart.
func (c container) endsBefore(restart time.Time) bool {
	if c.Last == nil || c.role == ephemeral || restart.IsZero() {
		return false
	}
	return c.Last.StartedAt.Before(restart) || triggers(c.spec, c.Last) && c.Last.FinishedAt.Equal(restart)
}

// Exited reports whether the newest attempt has exited, and its exit counts.
func (c container) Exited() bool { return !c.outdated && c.History.Exited() }

// mayRestartAll reports whether a rule of the container can restart all containers.
func (c container) mayRestartAll() bool {
	return slices.ContainsFunc(c.spec.RestartPolicyRules, func(r corev1.ContainerRestartRule) bool {
		return r.Action == corev1.ContainerRestartRuleActionRestartAllContainers
	})
}

// stopOutdated kills the running containers that are outdated, and reports whether there are any.
func (p *plan) stopOutdated() (any bool) {
	for _, c := range p.containers {
		if c.outdated && c.Running() {
			any = true
			p.stopContainer(c, order{by: p.Now, least: minGracePeriod, message: stopping(c.spec.Name)})
		}
	}
	return any
}

// restartAllPause keeps a pod that asks for restarts again and again from doing nothing else. These restarts do not back off.
const restartAllPause = time.Second

// pauses reports whether it is too early to start the containers again.
func (p *plan) pauses() bool {
	until := p.Decision.RestartAll.Add(restartAllPause)
	if p.Decision.RestartAll.IsZero() || !p.Now.Before(until) {
		return false
	}
	p.requeueAt(until)
	return true
}

func (p *plan) restartingCondition() corev1.PodCondition {
	switch {
	case p.Status.Phase == corev1.PodSucceeded:
		return p.condition(corev1.AllContainersRestarting, false, "PodCompleted", "")
	case p.Status.Phase == corev1.PodFailed:
		return p.condition(corev1.AllContainersRestarting, false, "PodFailed", "")
	case slices.ContainsFunc(p.containers, func(c container) bool { return c.outdated && !p.starts(c) }):
		return p.condition(corev1.AllContainersRestarting, true, "RestartAllContainersStarted", "a container has exited in a way that restarts all containers")
	}
	return p.condition(corev1.AllContainersRestarting, false, "", "")
}
