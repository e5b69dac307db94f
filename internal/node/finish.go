package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/lifecycle"
)

// abandonedGrace is what the containers of a pod get that vanished from the API server: it was deleted with no grace.
const abandonedGrace = 2 * time.Second

// finish deals with a pod that is over as far as the API server is concerned: its final status is stored, or it is
// gone. What still runs is ended, then nothing of the pod is left but its logs.
func (w *podWorkers) finish(ctx context.Context, p *pod, api *corev1.Pod, gone bool) {
	w.placer.release(p.uid)
	if running := p.running(); len(running) > 0 {
		w.stopVanished(ctx, p, api)
		return
	}
	if !gone && awaitsRemoval(api) && !w.remove(ctx, p, api) {
		return
	}
	if !p.cleaned && !w.clean(ctx, p) {
		return
	}
	p.mu.Lock()
	over := p.absent || p.endSeen
	p.mu.Unlock()
	if over {
		if gone {
			// What the containers printed while they were stopped.
			w.keepLogs(p, api)
		}
		w.alarm.Set(p.uid, time.Time{})
		w.uses.remove(api)
		w.pods.drop(p.uid)
	}
}

// stopVanished stops what runs. The pod is not known where it vanished while no node ran.
func (w *podWorkers) stopVanished(ctx context.Context, p *pod, api *corev1.Pod) {
	for _, h := range p.running() {
		if !h.StopBy.IsZero() {
			continue
		}
		if err := w.runtime.Stop(ctx, h.Last.ID, abandonedGrace); err != nil {
			warn(ctx, "stop container", err, "pod", p.uid, "container", h.Last.Container)
			w.alarm.Set(p.uid, now().Add(retryAfter))
			continue
		}
		p.stopping(h.Last.Container, now().Add(abandonedGrace))
		if api != nil {
			w.events.recordEvents(p, api, []lifecycle.Event{lifecycle.Killing(h.Last.Container, h.Last.Attempt)})
		}
	}
}

// remove completes the deletion of a pod that has ended.
func (w *podWorkers) remove(ctx context.Context, p *pod, api *corev1.Pod) bool {
	at := int64(0)
	err := w.client.Delete(ctx, api, client.DeleteOptions{GracePeriodSeconds: &at})
	if err == nil || apierrors.IsNotFound(err) {
		p.failures = 0
		return true
	}
	warn(ctx, "delete pod", err, "pod", api.Namespace+"/"+api.Name)
	p.failures++
	w.alarm.Set(p.uid, p.retryTime())
	return false
}

// clean has runtime and disk forget the pod. Its results are stored, or not wanted any more.
func (w *podWorkers) clean(ctx context.Context, p *pod) bool {
	if ids := p.attempts(); len(ids) > 0 {
		err := w.runtime.RemovePod(ctx, p.uid, w.dirs.of(p.uid))
		if err == nil {
			err = w.runtime.Forget(ctx, ids...)
		}
		if err != nil {
			warn(ctx, "clean up after pod", err, "pod", p.uid)
			w.alarm.Set(p.uid, now().Add(retryAfter))
			return false
		}
	}
	if err := w.dirs.remove(p.uid); err != nil {
		warn(ctx, "remove the volumes of a pod", err, "pod", p.uid)
	}
	p.cleaned = true
	return true
}

// keepLogs has the keeper decide on the logs of a pod that may be known from the runtime only.
func (w *podWorkers) keepLogs(p *pod, api *corev1.Pod) {
	if api != nil {
		w.keeper.PodDeleted(api)
		return
	}
	for _, h := range p.containers {
		if h.Last != nil {
			w.keeper.PodVanished(h.Last.PodNamespace, h.Last.PodName, p.uid)
			return
		}
	}
}
