package node

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
)

// settle deals with a pod whose final status is stored. Where somebody else has written it, what still runs is ended and
// keeps its share of the machine until it has; then the status is completed. It tells whether to go on with the pod at
// once.
func (n *Node) settle(ctx context.Context, p *pod, api *corev1.Pod) (again bool) {
	if len(p.running()) == 0 && !lifecycle.Untold(api.Status, p.containers) {
		n.finish(ctx, p, api, false)
		return false
	}
	n.learn(p, api)
	d := lifecycle.Decide(lifecycle.Observation{Pod: api, Now: now(), StartTime: p.startTime, Containers: p.containers, Host: n.host(api)})
	if d.Ended {
		return n.reportEnd(ctx, p, api, tell(d.Status, p.containers))
	}
	n.announce(p, api, d.Notices)
	n.alarms.set(p.uid, n.stop(ctx, p, d.Stop))
	return false
}

// tell returns a change that tells how the containers of a pod have ended, unless the newest version does.
func tell(final corev1.PodStatus, known map[string]lifecycle.History) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if lifecycle.Untold(pod.Status, known) {
			pod.Status = lifecycle.Tell(pod.Status, final, now())
		}
	}
}
