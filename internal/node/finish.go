package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/lifecycle"
)

// finishGracePeriod is the grace period of containers whose pod is gone from the API server: it was deleted with a grace
// period of 0.
const finishGracePeriod = 2 * time.Second

// finish handles a pod whose final status is stored, or that is gone from the API server. It stops what still runs,
// then removes everything of the pod but its logs.
func (w *podWorkers) finish(ctx context.Context, p *pod, api *corev1.Pod, gone bool) {
	if w.endStarts(ctx, p) {
		return
	}
	w.scheduler.release(p.uid)
	w.endPulls(p, true)
	if running := p.running(); len(running) > 0 {
		w.stopRemaining(ctx, p, api)
		return
	}
	w.end(p)
	if !gone && awaitsRemoval(api) && !w.remove(ctx, p, api) {
		w.disk.checkNow() // A store whose disk is full may have refused it.
		return
	}
	if !p.cleaned && !w.clean(ctx, p) {
		return
	}
	p.mu.Lock()
	observed := p.absent || p.finalObserved
	p.mu.Unlock()
	if observed {
		if gone {
			// The logs include what the containers printed while they were stopped.
			w.keepLogs(p, api)
		}
		w.alarm.Set(p.uid, time.Time{})
		w.configUsers.remove(api)
		w.pods.drop(p.uid)
	}
}

// stopRemaining stops the containers that run. Api is nil if the pod was deleted while no node ran.
func (w *podWorkers) stopRemaining(ctx context.Context, p *pod, api *corev1.Pod) {
	for _, h := range p.running() {
		if !h.StopBy.IsZero() && h.PreStop == lifecycle.HookIdle {
			continue
		}
		began := now()
		if err := w.runtime.Stop(ctx, h.Last.ID, finishGracePeriod); err != nil {
			warn(ctx, "stop container", err, "pod", p.uid, "container", h.Last.Container)
			w.alarm.Set(p.uid, now().Add(retryAfter))
			continue
		}
		p.told(lifecycle.Stop{ID: h.Last.ID, Grace: finishGracePeriod}, began)
		if api != nil {
			w.events.recordEvents(p, api, []lifecycle.Event{lifecycle.Killing(h.Last.Container, h.Last.Attempt)})
		}
	}
}

// remove completes the deletion of a terminated pod, by deleting it with a grace period of 0.
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

// clean removes the pod from the runtime and the disk. Its results are stored, or the pod is gone.
func (w *podWorkers) clean(ctx context.Context, p *pod) bool {
	p.removal.Lock()
	defer p.removal.Unlock()
	if ids := p.attempts(); len(ids) > 0 {
		err := w.runtime.RemovePod(ctx, p.uid, "")
		if err == nil {
			err = w.runtime.Forget(ctx, ids...)
		}
		if err != nil {
			warn(ctx, "clean up after pod", err, "pod", p.uid)
			w.alarm.Set(p.uid, now().Add(retryAfter))
			return false
		}
	}
	w.removeFiles(ctx, p.uid)
	w.networks.release(p.uid)
	p.cleaned = true
	w.disk.freed()
	return true
}

// removePatience is how long a worker waits until the files of a pod are removed. What is left then is removed in the background.
const removePatience = time.Second

func (w *podWorkers) removeFiles(ctx context.Context, uid types.UID) {
	brief, cancel := context.WithTimeout(ctx, removePatience)
	defer cancel()
	// If this fails, the folder is removed without the runtime's help.
	_ = w.runtime.RemoveVolume(brief, w.dirs.of(uid))
	if err := w.dirs.remove(brief, uid); err != nil {
		warn(brief, "remove the volumes of a pod", err, "pod", uid)
	}
	if brief.Err() != nil {
		w.dirs.removals.Add(string(uid), time.Time{})
	}
}

// keepLogs passes the logs of a deleted pod to the log retention. If api is nil, the pod's name comes from the runtime.
func (w *podWorkers) keepLogs(p *pod, api *corev1.Pod) {
	if api != nil {
		w.logRetention.PodDeleted(api)
		return
	}
	for _, h := range p.containers {
		if h.Last != nil {
			w.logRetention.PodVanished(h.Last.PodNamespace, h.Last.PodName, p.uid)
			return
		}
	}
}
