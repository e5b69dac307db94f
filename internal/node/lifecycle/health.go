package lifecycle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/probe"
)

// started reports whether the container runs, its postStart hook has ended and its startup probe has succeeded.
func (c container) started() bool {
	return c.Running() && c.PostStart == HookIdle && c.Probes.Started()
}

// ready reports whether the container does its work: an init container has succeeded, a main one or a sidecar is started and
// its readiness probe succeeds. An ephemeral one does no work of the pod.
func (c container) ready() bool {
	switch c.role {
	case initial:
		return c.Exited() && c.Last.ExitCode == 0
	case ephemeral:
		return false
	}
	return c.started() && c.Probes.Ready()
}

func (c container) hasPostStart() bool {
	return c.spec.Lifecycle != nil && c.spec.Lifecycle.PostStart != nil
}

func (c container) hasPreStop() bool {
	return c.spec.Lifecycle != nil && c.spec.Lifecycle.PreStop != nil
}

// stopUnhealthy stops the containers whose liveness or startup probe, or postStart hook, has failed.
func (p *plan) stopUnhealthy() {
	for _, c := range p.containers {
		if !c.Running() {
			continue
		}
		message, grace := p.unhealthy(c)
		if message == "" {
			continue
		}
		by := c.StopBy
		if by.IsZero() {
			by = p.Now.Add(grace)
		}
		p.stopContainer(c, order{by: by, least: minGracePeriod, message: message})
	}
}

// unhealthy returns why the running container must end, and its grace period; empty if it need not.
func (p *plan) unhealthy(c container) (message string, grace time.Duration) {
	if c.PostStart == HookFailed {
		return "FailedPostStartHook", p.grace()
	}
	kind, failed := c.Probes.Failed()
	if !failed {
		return "", 0
	}
	grace = p.grace()
	if s := probe.SpecOf(c.spec, kind).TerminationGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	return p.probeFailed(c, kind), grace
}

func (p *plan) probeFailed(c container, kind probe.Kind) string {
	what := map[probe.Kind]string{probe.Startup: "startup", probe.Liveness: "liveness"}[kind]
	if c.role == sidecar {
		return fmt.Sprintf("Init container %s failed %s probe", c.spec.Name, what)
	}
	message := fmt.Sprintf("Container %s failed %s probe", c.spec.Name, what)
	if policyOf(p.Pod, c.spec) != corev1.RestartPolicyNever {
		message += ", will be restarted"
	}
	return message
}
