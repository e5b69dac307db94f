package node

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/stint-dev/stint/internal/node/resourcemetrics"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// newMachineMeter returns a meter for the machine, whose key is the name of its Node.
func newMachineMeter() *resourcemetrics.Meter[string] {
	return resourcemetrics.New(func(context.Context, []string) ([]runtime.ResourceUsage, error) {
		usage, err := resourcemetrics.Machine()
		return []runtime.ResourceUsage{usage}, err
	})
}

// PodMetrics returns what the containers of these pods use. Pods without a container that runs are left out.
func (n *Node) PodMetrics(ctx context.Context, pods []*corev1.Pod) ([]metricsv1beta1.PodMetrics, error) {
	var all []runtime.ID
	running := map[types.UID][]runtime.ID{}
	for _, pod := range pods {
		if p := n.pods.get(pod.UID); p != nil {
			p.mu.Lock()
			running[pod.UID] = p.runningIDs()
			p.mu.Unlock()
			all = append(all, running[pod.UID]...)
		}
	}
	measured, err := n.containerMeter.Of(ctx, all)
	if err != nil {
		return nil, err
	}
	var metrics []metricsv1beta1.PodMetrics
	for _, pod := range pods {
		if m := podMetrics(pod, running[pod.UID], measured); len(m.Containers) > 0 {
			metrics = append(metrics, m)
		}
	}
	return metrics, nil
}

// NodeMetrics returns what all processes of this machine use, and nothing for other nodes.
func (n *Node) NodeMetrics(ctx context.Context, nodes []*corev1.Node) ([]metricsv1beta1.NodeMetrics, error) {
	for _, object := range nodes {
		if object.Name != n.Name() {
			continue
		}
		measured, err := n.machineMeter.Of(ctx, []string{object.Name})
		if err != nil {
			return nil, err
		}
		m := measured[object.Name]
		return []metricsv1beta1.NodeMetrics{{
			ObjectMeta: metaOfMetrics(&object.ObjectMeta, m.At),
			Timestamp:  metav1.NewTime(m.At), Window: metav1.Duration{Duration: m.Window}, Usage: resourceList(m),
		}}, nil
	}
	return nil, nil
}

// podMetrics returns the metrics of a pod with those of its containers that were measured.
func podMetrics(pod *corev1.Pod, ids []runtime.ID, measured map[runtime.ID]resourcemetrics.Metrics) metricsv1beta1.PodMetrics {
	var p metricsv1beta1.PodMetrics
	for _, id := range ids {
		m, known := measured[id]
		if !known {
			continue
		}
		p.Containers = append(p.Containers, metricsv1beta1.ContainerMetrics{Name: id.Container, Usage: resourceList(m)})
		p.Timestamp, p.Window = metav1.NewTime(m.At), metav1.Duration{Duration: max(p.Window.Duration, m.Window)}
	}
	slices.SortFunc(p.Containers, func(a, b metricsv1beta1.ContainerMetrics) int { return cmp.Compare(a.Name, b.Name) })
	p.ObjectMeta = metaOfMetrics(&pod.ObjectMeta, p.Timestamp.Time)
	return p
}

func metaOfMetrics(of *metav1.ObjectMeta, at time.Time) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: of.Name, Namespace: of.Namespace, Labels: of.Labels, CreationTimestamp: metav1.NewTime(at)}
}

func resourceList(m resourcemetrics.Metrics) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(m.MilliCPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(m.Memory, resource.BinarySI),
	}
}
