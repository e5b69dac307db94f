package server

import (
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/node"
)

// lateNode is the node, as the API server finds it. It is created later, as it needs the API server's client.
type lateNode struct{ atomic.Pointer[node.Node] }

// runs reports whether a pod is the node's.
func (l *lateNode) runs(pod *corev1.Pod) bool {
	if n := l.Load(); n != nil {
		return n.Taken(pod)
	}
	return pod.Spec.NodeName != ""
}

func (l *lateNode) started() (*node.Node, error) {
	if n := l.Load(); n != nil {
		return n, nil
	}
	return nil, apierrors.NewServiceUnavailable("the node of this server is starting")
}

func (l *lateNode) pods() (apiserver.PodAccess, error) { return l.started() }

func (l *lateNode) metrics() (apiserver.ResourceMetrics, error) { return l.started() }
