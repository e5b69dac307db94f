package lifecycle

import "github.com/stint-dev/stint/internal/node/runtime"

// startEphemeral starts the ephemeral containers that have never run, once their targets run.
func (p *plan) startEphemeral() {
	for _, c := range p.containers {
		if c.role == ephemeral && c.Last == nil && !p.awaitsTarget(c) {
			p.attempt(c)
		}
	}
}

// awaitsTarget reports whether the container is to share the process ids of another one, which does not run.
func (p *plan) awaitsTarget(c container) bool { return c.target != "" && p.targetOf(c) == nil }

// targetOf returns the running attempt whose process ids the container is to share; nil if there is none.
func (p *plan) targetOf(c container) *runtime.ID {
	for _, target := range p.containers {
		if c.target != "" && target.spec.Name == c.target && target.Running() {
			return &target.Last.ID
		}
	}
	return nil
}
