package server

import (
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node"
)

// nodePods breaks the circle between the API server, which asks what the node has taken, and the node, which is made
// after it.
type nodePods struct{ node atomic.Pointer[node.Node] }

func (t *nodePods) has(pod *corev1.Pod) bool {
	if n := t.node.Load(); n != nil {
		return n.Taken(pod)
	}
	return pod.Spec.NodeName != ""
}
