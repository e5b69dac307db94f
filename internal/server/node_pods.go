package server

import (
	"context"
	"net"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// nodePods tells the API server which pods the node runs. The node is created later, as it needs the API server's client.
type nodePods struct{ node atomic.Pointer[node.Node] }

func (t *nodePods) has(pod *corev1.Pod) bool {
	if n := t.node.Load(); n != nil {
		return n.Taken(pod)
	}
	return pod.Spec.NodeName != ""
}

// Attempt implements apiserver.PodAccess.
func (t *nodePods) Attempt(pod *corev1.Pod, container string) (runtime.ID, error) {
	n := t.node.Load()
	if n == nil {
		return runtime.ID{}, errStarting
	}
	return n.Attempt(pod, container)
}

// Exec implements apiserver.PodAccess. There is a node, as it has been asked for the attempt.
func (t *nodePods) Exec(ctx context.Context, id runtime.ID, command runtime.Command, streams runtime.Streams) (int32, error) {
	return t.node.Load().Exec(ctx, id, command, streams)
}

// Attach implements apiserver.PodAccess.
func (t *nodePods) Attach(ctx context.Context, id runtime.ID, streams runtime.Streams) error {
	return t.node.Load().Attach(ctx, id, streams)
}

// Dial implements apiserver.PodAccess.
func (t *nodePods) Dial(ctx context.Context, pod *corev1.Pod, port int32) (net.Conn, error) {
	n := t.node.Load()
	if n == nil {
		return nil, errStarting
	}
	return n.Dial(ctx, pod, port)
}

// PodMetrics implements apiserver.ResourceMetrics.
func (t *nodePods) PodMetrics(ctx context.Context, pods []*corev1.Pod) ([]metricsv1beta1.PodMetrics, error) {
	n := t.node.Load()
	if n == nil {
		return nil, errStarting
	}
	return n.PodMetrics(ctx, pods)
}

// NodeMetrics implements apiserver.ResourceMetrics.
func (t *nodePods) NodeMetrics(ctx context.Context, nodes []*corev1.Node) ([]metricsv1beta1.NodeMetrics, error) {
	n := t.node.Load()
	if n == nil {
		return nil, errStarting
	}
	return n.NodeMetrics(ctx, nodes)
}

var errStarting = apierrors.NewServiceUnavailable("the node of this server is starting")
