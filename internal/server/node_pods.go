package server

import (
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node"
)

// nodePods tells the API server which pods the node runs. The node is created later, as it needs the API server's client.
type nodePods struct{ node atomic.Pointer[node.Node] }

func (t *nodePods) has(pod *corev1.Pod) bool {
	if n := t.node.Load(); n != nil {
		return n.Taken(pod)
	}
	return pod.Spec.NodeName != ""
}
