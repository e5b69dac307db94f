package node

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
)

// handleFinal deals with a pod whose final status is stored. Where another client has written it, what still runs is ended and
// keeps its share of the machine until it has; then the status is completed. It reports whether to go on with the pod
// at once.
func (w *podWorkers) handleFinal(ctx context.Context, p *pod, api *corev1.Pod) (again bool) {
	if len(p.running()) == 0 && !lifecycle.LacksContainerEnds(api.Status, p.containers) {
		w.finish(ctx, p, api, false)
		return false
	}
	w.observeFirst(p, api)
	d := lifecycle.Decide(lifecycle.Observation{Pod: api, Now: now(), StartTime: p.startTime, Containers: p.containers, Host: w.host(api)})
	if d.Ended {
		return w.status.reportEnd(ctx, p, api, addContainerEnds(d.Status, p.containers))
	}
	w.events.recordEvents(p, api, d.Events)
	w.alarm.Set(p.uid, w.stop(ctx, p, d.Stop))
	return false
}

// addContainerEnds returns a change that tells how the containers of a pod have ended, unless the newest version does.
func addContainerEnds(final corev1.PodStatus, known map[string]lifecycle.History) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if lifecycle.LacksContainerEnds(pod.Status, known) {
			pod.Status = lifecycle.AddContainerEnds(pod.Status, final, now())
		}
	}
}
