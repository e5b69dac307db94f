package node

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/prober"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podspec"
)

// Hooks do not survive a restart of the node. As after a restart of a kubelet, a postStart hook that was cut off counts as
// done, and a preStop hook runs again.

// postStart runs the hook of a container that has just started, if it has one.
func (w *podWorkers) postStart(ctx context.Context, p *pod, id runtime.ID, spec *corev1.Container) {
	if spec.Lifecycle == nil || spec.Lifecycle.PostStart == nil {
		return
	}
	p.addOutcome(outcome{id: id, apply: func(_ *corev1.Pod, h *lifecycle.History) { h.PostStart = lifecycle.HookRuns }})
	w.hook(ctx, p, w.probed(p, id, spec), spec.Lifecycle.PostStart,
		func(api *corev1.Pod, h *lifecycle.History, err error) {
			h.PostStart = lifecycle.HookIdle
			if err != nil {
				h.PostStart = lifecycle.HookFailed
				w.events.Eventf(api, corev1.EventTypeWarning, "FailedPostStartHook", "PostStartHook failed: %.*v", maxMessage, err)
			}
		})
}

// preStop runs the hook of a container that is to stop, unless it runs already.
func (w *podWorkers) preStop(ctx context.Context, p *pod, api *corev1.Pod, id runtime.ID) {
	if p.containers[id.Container].PreStop != lifecycle.HookIdle {
		return
	}
	spec := podspec.Container(&api.Spec, id.Container)
	w.hook(ctx, p, w.probed(p, id, spec), spec.Lifecycle.PreStop,
		func(api *corev1.Pod, h *lifecycle.History, err error) {
			if h.PreStop == lifecycle.HookRuns {
				h.PreStop = lifecycle.HookEnded
			}
			if err != nil {
				w.events.Eventf(api, corev1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed: %.*v", maxMessage, err)
			}
		})
}

// hook runs a hook in the background, until it ends or its container does.
func (w *podWorkers) hook(ctx context.Context, p *pod, c prober.Container, h *corev1.LifecycleHandler,
	apply func(*corev1.Pod, *lifecycle.History, error)) {
	ctx, cancel := context.WithCancel(ctx)
	ended := p.endOf(c.ID)
	w.background.Go(func() {
		select {
		case <-ctx.Done():
		case <-ended:
			cancel()
		}
	})
	w.background.Go(func() {
		defer cancel()
		err := w.prober.Hook(ctx, c, h)
		if ctx.Err() != nil {
			return
		}
		p.addOutcome(outcome{id: c.ID, apply: func(api *corev1.Pod, h *lifecycle.History) { apply(api, h, err) }})
		w.wake(p.uid)
	})
}
