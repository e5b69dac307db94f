package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// evictedReason is a kubelet's, which scripts look for.
const evictedReason = "Evicted"

// evictionGrace is what a kubelet gives pods that take too much.
const evictionGrace = time.Second

func evicted(p *plan) *cause {
	if p.Eviction == nil {
		return nil
	}
	return &cause{
		phase:      corev1.PodFailed,
		reason:     evictedReason,
		message:    p.Eviction.Message,
		deadline:   p.Eviction.At.Add(evictionGrace),
		shortGrace: true,
		cutShort:   true,
	}
}

// RestoreEviction returns the eviction in the pod's stored status; nil if there is none.
func RestoreEviction(pod *corev1.Pod) *Eviction {
	if pod.Status.Reason != evictedReason {
		return nil
	}
	// Whatever has ended since: the pod had not when this was written.
	return &Eviction{Message: pod.Status.Message}
}
