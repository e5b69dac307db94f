package server

import (
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node"
)

// takenPods breaks the circle between the API server, which asks what the node has taken, and the node, which is made
// after it.
type takenPods struct{ node atomic.Pointer[node.Node] }

func (t *takenPods) has(pod *corev1.Pod) bool {
	if n := t.node.Load(); n != nil {
		return n.Taken(pod)
	}
	return pod.Spec.NodeName != ""
}
