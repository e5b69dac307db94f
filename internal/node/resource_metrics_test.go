package node_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestMetricsOfPodsAndTheNode(t *testing.T) {
	h := newTestNode(t, newScripted())
	h.startNode(nil)
	two := func(p *corev1.Pod) {
		p.Labels = map[string]string{"a": "b"}
		second := p.Spec.Containers[0].DeepCopy()
		second.Name = "another"
		p.Spec.Containers = append(p.Spec.Containers, *second)
	}
	running, ended := h.create(build("running", []string{"wait"}, two)), h.create(build("ended", []string{"exit", "0"}, nil))
	running = h.until(running, "the pod runs", inPhase(corev1.PodRunning))
	ended = h.until(ended, "the pod has ended", inPhase(corev1.PodSucceeded))
	absent := build("absent", []string{"wait"}, nil)
	metrics, err := h.node.PodMetrics(t.Context(), []*corev1.Pod{running, ended, absent})
	if err != nil || len(metrics) != 1 {
		t.Fatalf("%v: %+v", err, metrics)
	}
	m := metrics[0]
	if m.Name != "running" || m.Namespace != "default" || m.Labels["a"] != "b" || m.Timestamp.IsZero() || m.Window.Duration <= 0 {
		t.Errorf("%+v", m)
	}
	if len(m.Containers) != 2 || m.Containers[0].Name != "another" || m.Containers[1].Name != "main" {
		t.Fatalf("%+v", m.Containers)
	}
	if usage := m.Containers[1].Usage; usage.Memory().Cmp(resource.MustParse("1Mi")) != 0 || usage.Cpu().Sign() != 0 {
		t.Errorf("%+v", usage)
	}

	here, err := h.client.Nodes().Get(t.Context(), "", "here")
	if err != nil {
		t.Fatal(err)
	}
	other := here.DeepCopy()
	other.Name = "other"
	nodes, err := h.node.NodeMetrics(t.Context(), []*corev1.Node{other, here})
	if err != nil || len(nodes) != 1 || nodes[0].Name != "here" || nodes[0].Usage.Memory().Sign() <= 0 || nodes[0].Window.Duration <= 0 {
		t.Errorf("%v: %+v", err, nodes)
	}
}
