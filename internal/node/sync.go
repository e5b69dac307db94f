package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// sync brings one pod forward as far as it goes now. A start is followed by another look, since the next container
// may start on it.
func (n *Node) sync(ctx context.Context, p *pod) {
	for ctx.Err() == nil && n.step(ctx, p) {
	}
}

// step decides once about the pod and does what was decided. It tells whether to decide again at once.
func (n *Node) step(ctx context.Context, p *pod) (again bool) {
	n.takeNews(ctx, p)
	api, gone := p.current()
	if gone {
		n.finish(ctx, p, api, true)
		return false
	}
	if lifecycle.Final(api.Status.Phase) {
		return n.settle(ctx, p, api)
	}
	n.learn(p, api)
	n.refresh(ctx, p, api)
	t := now()
	placed := n.place(p, api)
	if placed {
		p.takeStart(t)
	}
	d := lifecycle.Decide(lifecycle.Observation{
		Pod:        api,
		Now:        t,
		Placed:     placed,
		StartTime:  p.startTime,
		Containers: p.containers,
		Hindrances: p.hindrances,
		Refusal:    p.refusal,
		Eviction:   p.evicted(),
		Host:       n.host(api),
	})
	n.announce(p, api, d.Notices)
	d.Wake = earlier(d.Wake, n.stop(ctx, p, d.Stop))
	if !d.Ended {
		d.Wake = earlier(d.Wake, n.evict(ctx, p, api, t))
	}
	for _, s := range d.Start {
		n.start(ctx, p, api, s)
	}
	switch {
	case len(d.Start) > 0:
		return true
	case d.Ended:
		n.free(p)
		return n.reportEnd(ctx, p, api, n.bind(d.Status))
	case !placed:
		n.reportWaiting(ctx, p, api, t)
	default:
		n.report(ctx, p, api, d, t)
	}
	return false
}

// learn looks at a pod for the first time: what its stored status tells of an earlier life, and whether this node
// can run it.
func (n *Node) learn(p *pod, api *corev1.Pod) {
	if p.known {
		return
	}
	p.mu.Lock()
	lifecycle.Recall(api, p.containers)
	if e := lifecycle.RecallEviction(api); e != nil {
		p.eviction = e
	}
	p.mu.Unlock()
	p.known = true
	p.startTime = firstStart(p, api)
	p.refusal = n.refuse(api)
	n.uses.add(api)
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

// takeNews files what the runtime has told, and lets it forget attempts that nobody will ask for again.
func (n *Node) takeNews(ctx context.Context, p *pod) {
	for _, s := range p.open() {
		api, _ := p.current()
		if outdated := p.add(n.withMessage(api, s)); len(outdated) > 0 {
			if err := n.Runtime.Forget(ctx, outdated...); err != nil {
				n.log(ctx, "the runtime keeps an old attempt", err, "pod", p.uid)
			}
		}
	}
}

// refresh rewrites volumes, and tries again what has been hindered, once something has changed that may matter.
func (n *Node) refresh(ctx context.Context, p *pod, api *corev1.Pod) {
	p.mu.Lock()
	stale := p.stale
	p.stale = false
	p.mu.Unlock()
	if !stale {
		return
	}
	p.hindrances = nil
	if len(p.running()) == 0 {
		return
	}
	if err := n.vols.Update(ctx, n.volumePod(api)); err != nil {
		n.Recorder.Eventf(api, corev1.EventTypeWarning, "FailedMount", "%v; the files stay as they are", err)
	}
}

// stop returns when to try again what could not be stopped.
func (n *Node) stop(ctx context.Context, p *pod, stops []lifecycle.Stop) (retry time.Time) {
	for _, s := range stops {
		by := now().Add(s.Grace)
		if err := n.Runtime.Stop(ctx, s.ID, s.Grace); err != nil {
			n.log(ctx, "stop container", err, "pod", p.uid, "container", s.ID.Container)
			retry = now().Add(retryAfter)
			continue
		}
		p.stopping(s.ID.Container, by)
	}
	return retry
}
