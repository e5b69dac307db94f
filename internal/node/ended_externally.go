package node

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
)

// handleFinal handles a pod whose final status is stored. If another client has written it while containers run, they
// are stopped first. The pod keeps its resources until they have exited, and then their states are added to the status.
// It reports whether to sync the pod again at once.
func (w *podWorkers) handleFinal(ctx context.Context, p *pod, api *corev1.Pod) (again bool) {
	if len(p.running()) == 0 && !lifecycle.LacksContainerEnds(api.Status, p.containers) {
		w.finish(ctx, p, api, false)
		return false
	}
	w.observeFirst(p, api)
	d := lifecycle.Decide(lifecycle.Observation{Pod: api, Now: now(), StartTime: p.startTime, Containers: p.containers, Host: w.host(p, api)})
	if d.Ended {
		return w.storeEnd(ctx, p, api, addContainerEnds(d.Status, p.containers))
	}
	w.events.recordEvents(p, api, d.Events)
	w.alarm.Set(p.uid, earlier(d.RequeueAt, w.stop(ctx, p, api, d.Stop)))
	return false
}

// addContainerEnds returns a change that adds the terminated states of the containers, unless the status has them
// already.
func addContainerEnds(final corev1.PodStatus, known map[string]lifecycle.History) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if lifecycle.LacksContainerEnds(pod.Status, known) {
			pod.Status = lifecycle.AddContainerEnds(pod.Status, final, now())
		}
	}
}
