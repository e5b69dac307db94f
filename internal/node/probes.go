package node

import (
	"context"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/probe"
	"github.com/stint-dev/stint/internal/node/prober"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podspec"
	"github.com/stint-dev/stint/internal/podstatus"
)

// Probes and hooks take time, so they do not run in the workers, but each in a goroutine of its own while it runs. What it
// has come to is an outcome, which the worker that syncs the pod processes. There is no goroutine per probe that waits for
// its time: that is part of when the pod is synced next.

// outcome is what a probe or a hook of an attempt has come to.
type outcome struct {
	id runtime.ID
	// apply changes what is known of the attempt, and records events about it.
	apply func(api *corev1.Pod, h *lifecycle.History)
}

func (p *pod) addOutcome(o outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outcomes = append(p.outcomes, o)
}

// processOutcomes applies the outcomes for attempts that still run; the others do not matter any more.
func (w *podWorkers) processOutcomes(p *pod, api *corev1.Pod) {
	p.mu.Lock()
	outcomes := p.outcomes
	p.outcomes = nil
	p.mu.Unlock()
	for _, o := range outcomes {
		p.change(o.id.Container, func(h *lifecycle.History) {
			if h.Running() && h.Last.ID == o.id {
				o.apply(api, h)
			}
		})
	}
}

func hasProbesOrHooks(s *corev1.PodSpec) bool {
	for c := range podspec.Containers(s) {
		if c.LivenessProbe != nil || c.ReadinessProbe != nil || c.StartupProbe != nil || c.Lifecycle != nil {
			return true
		}
	}
	return false
}

// followProbes begins to follow the probes of attempts that have started, once their postStart hooks have ended.
func (w *podWorkers) followProbes(p *pod, api *corev1.Pod, t time.Time) {
	if !p.hasProbesOrHooks {
		return
	}
	for name, known := range p.containers {
		spec := podspec.Container(&api.Spec, name)
		if spec == nil || !known.Running() || known.Probes != nil || known.PostStart != lifecycle.HookIdle {
			continue
		}
		p.change(name, func(h *lifecycle.History) {
			if h.Last.StartedAt.Before(w.began) {
				h.Probes = probe.Resume(spec, h.Last.StartedAt, resumption(api, h.Last.ID, t))
			} else {
				h.Probes = probe.Begin(spec, h.Last.StartedAt)
			}
		})
	}
}

// resumption returns what the pod's stored status says of an attempt that an earlier run of the node has started.
func resumption(api *corev1.Pod, id runtime.ID, t time.Time) probe.Resumption {
	r := probe.Resumption{Now: t, Delay: func(period time.Duration) time.Duration { return rand.N(period) }}
	for s := range podstatus.EveryContainer(&api.Status) {
		if s.Name == id.Container && s.RestartCount == id.Attempt && s.State.Running != nil {
			r.Started, r.Ready = s.Started != nil && *s.Started, s.Ready
		}
	}
	return r
}

// runProbes runs the probes that are due, and returns when the next one will be. A pod that is ending is no longer asked
// whether it is alive.
func (w *podWorkers) runProbes(ctx context.Context, p *pod, api *corev1.Pod, ending bool, t time.Time) (next time.Time) {
	if !p.hasProbesOrHooks {
		return time.Time{}
	}
	for name, h := range p.containers {
		if !h.Running() {
			continue
		}
		for _, kind := range h.Probes.Start(t) {
			if !ending || kind == probe.Readiness {
				w.probe(ctx, p, w.probed(p, h.Last.ID, podspec.Container(&api.Spec, name)), kind)
			}
		}
		next = earlier(next, h.Probes.Next())
	}
	return next
}

// probed is a container of a pod, as probes and hooks find it.
func (w *podWorkers) probed(p *pod, id runtime.ID, spec *corev1.Container) prober.Container {
	c := prober.Container{ID: id, PodIP: w.address, Spec: spec}
	if p.address.IsValid() {
		c.PodIP = p.address.String()
	}
	return c
}

// probe runs a probe in the background.
func (w *podWorkers) probe(ctx context.Context, p *pod, c prober.Container, kind probe.Kind) {
	w.background.Go(func() {
		o := w.prober.Probe(ctx, c, kind)
		if ctx.Err() != nil {
			return
		}
		p.addOutcome(outcome{id: c.ID, apply: func(api *corev1.Pod, h *lifecycle.History) {
			w.events.recordProbe(api, kind, o)
			h.Probes.Observe(kind, o.Result, now())
		}})
		w.wake(p.uid)
	})
}
