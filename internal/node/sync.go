package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podstatus"
)

// sync brings one pod forward as far as it goes now. A start is followed by another look, since the next container
// may start on it.
func (w *podWorkers) sync(ctx context.Context, p *pod) {
	for ctx.Err() == nil && w.step(ctx, p) {
	}
}

// step decides once about the pod and does what was decided. It reports whether to decide again at once.
func (w *podWorkers) step(ctx context.Context, p *pod) (again bool) {
	w.processRuntimeStatuses(ctx, p)
	api, gone := p.current()
	if gone {
		w.finish(ctx, p, api, true)
		return false
	}
	if podstatus.IsTerminal(api.Status.Phase) {
		return w.handleFinal(ctx, p, api)
	}
	w.observeFirst(p, api)
	w.refresh(ctx, p, api)
	t := now()
	placed := w.placer.admit(api, !p.startTime.IsZero())
	if placed {
		p.takeStart(t)
	}
	d := lifecycle.Decide(lifecycle.Observation{
		Pod:           api,
		Now:           t,
		Placed:        placed,
		StartTime:     p.startTime,
		Containers:    p.containers,
		StartFailures: p.startFailures,
		Refusal:       p.refusal,
		Eviction:      p.evicted(),
		Host:          w.host(api),
	})
	w.events.recordEvents(p, api, d.Events)
	d.RequeueAt = earlier(d.RequeueAt, w.stop(ctx, p, d.Stop))
	if !d.Ended {
		d.RequeueAt = earlier(d.RequeueAt, w.evict(ctx, p, api, t))
	}
	for _, s := range d.Start {
		w.start(ctx, p, api, s)
	}
	switch {
	case len(d.Start) > 0:
		return true
	case d.Ended:
		w.placer.release(p.uid)
		return w.status.reportEnd(ctx, p, api, w.status.bind(d.Status))
	case !placed:
		w.status.reportWaiting(ctx, p, api, t)
	default:
		w.status.report(ctx, p, api, d, t)
	}
	return false
}

// observeFirst looks at a pod for the first time: what its stored status tells of an earlier life, and whether this node
// can run it.
func (w *podWorkers) observeFirst(p *pod, api *corev1.Pod) {
	if p.known {
		return
	}
	p.mu.Lock()
	lifecycle.RestoreHistory(api, p.containers)
	if e := lifecycle.RestoreEviction(api); e != nil {
		p.eviction = e
	}
	p.mu.Unlock()
	p.known = true
	p.startTime = firstStart(p, api)
	if err := w.containers.Check(api); err != nil {
		p.refusal = &lifecycle.Refusal{Reason: "NotSupported", Message: err.Error()}
	}
	w.uses.add(api)
}

// firstStart is when a pod of an earlier life was taken; zero for a new pod.
func firstStart(p *pod, api *corev1.Pod) time.Time {
	if api.Status.StartTime != nil {
		return api.Status.StartTime.Time
	}
	var first time.Time
	for _, h := range p.containers {
		for _, s := range []*runtime.Status{h.Last, h.Previous} {
			if s != nil && (first.IsZero() || s.StartedAt.Before(first)) {
				first = s.StartedAt
			}
		}
	}
	return first
}

// processRuntimeStatuses files what the runtime has told, and lets it forget attempts that will not be asked for again.
func (w *podWorkers) processRuntimeStatuses(ctx context.Context, p *pod) {
	for _, s := range p.open() {
		api, _ := p.current()
		if outdated := p.add(w.withMessage(api, s)); len(outdated) > 0 {
			if err := w.runtime.Forget(ctx, outdated...); err != nil {
				warn(ctx, "the runtime keeps an old attempt", err, "pod", p.uid)
			}
		}
	}
}

// refresh rewrites volumes, and tries again what has been hindered, once something has changed that may matter.
func (w *podWorkers) refresh(ctx context.Context, p *pod, api *corev1.Pod) {
	p.mu.Lock()
	stale := p.stale
	p.stale = false
	p.mu.Unlock()
	if !stale {
		return
	}
	p.startFailures = nil
	if len(p.running()) == 0 {
		return
	}
	if err := w.containers.UpdateVolumes(ctx, api, w.dirs.volumes(api.UID)); err != nil {
		w.events.Eventf(api, corev1.EventTypeWarning, "FailedMount", "%v; the files stay as they are", err)
	}
}

// stop returns when to try again what could not be stopped.
func (w *podWorkers) stop(ctx context.Context, p *pod, stops []lifecycle.Stop) (retry time.Time) {
	for _, s := range stops {
		by := now().Add(s.Grace)
		if err := w.runtime.Stop(ctx, s.ID, s.Grace); err != nil {
			warn(ctx, "stop container", err, "pod", p.uid, "container", s.ID.Container)
			retry = now().Add(retryAfter)
			continue
		}
		p.stopping(s.ID.Container, by)
	}
	return retry
}
