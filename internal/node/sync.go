package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/persistentvolume"
	"github.com/stint-dev/stint/internal/podstatus"
)

// sync repeats step until there is nothing more to do now. After a start it decides again, as the next container may
// start then.
func (w *podWorkers) sync(ctx context.Context, p *pod) {
	for ctx.Err() == nil && w.step(ctx, p) {
	}
}

// step decides once about the pod and applies the decision. It reports whether to decide again at once.
func (w *podWorkers) step(ctx context.Context, p *pod) (again bool) {
	w.processRuntimeStatuses(ctx, p)
	api, gone := p.current()
	w.processOutcomes(p, api)
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
	w.followProbes(p, api, t)
	admitted := w.admit(p, api, t)
	if admitted && !w.decideAddress(p, api) {
		w.alarm.Set(p.uid, t.Add(retryAfter))
		return false
	}
	d := lifecycle.Decide(lifecycle.Observation{
		Pod:           api,
		Now:           t,
		Admitted:      admitted,
		StartTime:     p.startTime,
		Containers:    p.containers,
		StartFailures: p.startFailures,
		Refusal:       p.refusal,
		Eviction:      p.evicted(),
		RestartAll:    p.restartAll,
		Host:          w.host(p, api),
	})
	w.events.recordEvents(p, api, d.Events)
	p.restartAll = d.RestartAll
	d.RequeueAt = earlier(d.RequeueAt, w.stop(ctx, p, api, d.Stop))
	w.endPulls(p, d.Ending)
	if !d.Ended {
		d.RequeueAt = earlier(d.RequeueAt, w.runProbes(ctx, p, api, d.Ending, t))
		d.RequeueAt = earlier(d.RequeueAt, w.evict(ctx, p, api, t))
	}
	if len(d.Start) > 0 && mustReportFirst(p, api) {
		return w.status.reportNow(ctx, p, api, w.status.bind(d.Status))
	}
	for _, s := range d.Start {
		w.start(ctx, p, api, s)
	}
	switch {
	case len(d.Start) > 0:
		return true
	case d.Ended && w.endStarts(ctx, p):
	case d.Ended:
		w.scheduler.release(p.uid)
		return w.storeEnd(ctx, p, api, w.status.bind(d.Status))
	case !admitted:
		w.status.reportWaiting(ctx, p, api, t)
	default:
		w.status.report(ctx, p, api, d, t)
	}
	return false
}

// admit reports whether the pod has its place on the node, and stores since when.
func (w *podWorkers) admit(p *pod, api *corev1.Pod, t time.Time) bool {
	if !w.scheduler.admit(api, !p.startTime.IsZero()) {
		return false
	}
	p.setStartTime(t)
	return true
}

// mustReportFirst reports whether the status of a pod must be stored before its first container starts: a claim is protected only
// while a pod that is bound uses it, and the status alone remembers the address of a pod.
func mustReportFirst(p *pod, api *corev1.Pod) bool {
	return api.Spec.NodeName == "" && persistentvolume.UsesClaims(api) || p.address.IsValid() && api.Status.PodIP != p.address.String()
}

// decideAddress decides once whether the pod gets a network of its own. It reports false if there is no address left for it.
func (w *podWorkers) decideAddress(p *pod, api *corev1.Pod) bool {
	if p.addressDecided {
		return true
	}
	addr, err := w.networks.addressFor(api, len(p.containers) > 0)
	if err != nil {
		if p.firstTime(lifecycle.EventKey{Reason: "FailedCreatePodSandBox"}) {
			w.events.Event(api, corev1.EventTypeWarning, "FailedCreatePodSandBox", err.Error())
		}
		return false
	}
	p.address, p.addressDecided = addr, true
	return true
}

// observeFirst prepares the first decision about a pod: it restores what the stored status says of an earlier run of
// the node, and checks whether this node can run the pod.
func (w *podWorkers) observeFirst(p *pod, api *corev1.Pod) {
	if p.restored {
		return
	}
	p.mu.Lock()
	lifecycle.RestoreHistory(api, p.containers)
	if e := lifecycle.RestoreEviction(api); e != nil {
		p.eviction = e
	}
	p.mu.Unlock()
	p.restored, p.hasProbesOrHooks = true, hasProbesOrHooks(&api.Spec)
	p.startTime = lifecycle.RestoreStartTime(api, p.containers)
	if err := w.containers.Check(api); err != nil {
		p.refusal = &lifecycle.Refusal{Reason: "NotSupported", Message: err.Error()}
	}
	if w.networks.has(api) {
		w.decideAddress(p, api)
	}
	w.configUsers.add(api)
}

// processRuntimeStatuses adds the statuses from the runtime, also those of slow starts, to the histories of the containers, and lets
// the runtime forget attempts older than the previous one.
func (w *podWorkers) processRuntimeStatuses(ctx context.Context, p *pod) {
	p.processStarts()
	for _, s := range p.takeRuntimeStatuses() {
		api, _ := p.current()
		if outdated := p.addAttempt(w.withMessage(api, s)); len(outdated) > 0 {
			if err := w.runtime.Forget(ctx, outdated...); err != nil {
				warn(ctx, "forget old attempts", err, "pod", p.uid)
			}
		}
	}
}

// refresh rewrites volumes, and drops start failures so that these starts are tried again, once an object has changed
// that the pod refers to.
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

// stop stops containers, or runs the hooks before that. It returns when to try again if one could not be stopped; zero if
// all could.
func (w *podWorkers) stop(ctx context.Context, p *pod, api *corev1.Pod, stops []lifecycle.Stop) (retry time.Time) {
	for _, s := range stops {
		began := now()
		if s.PreStop {
			w.preStop(ctx, p, api, s.ID)
			p.told(s, began)
			continue
		}
		if err := w.runtime.Stop(ctx, s.ID, s.Grace); err != nil {
			warn(ctx, "stop container", err, "pod", p.uid, "container", s.ID.Container)
			retry = now().Add(retryAfter)
			continue
		}
		p.told(s, began)
	}
	return retry
}
