package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// evictedReason is the kubelet's reason, which scripts look for.
const evictedReason = "Evicted"

// evictionGrace is the grace period that a kubelet gives pods that exceed their limits of disk space.
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
	// At is zero, as every container that has exited by now did so after the eviction was stored: the pod had not
	// terminated then.
	return &Eviction{Message: pod.Status.Message}
}
