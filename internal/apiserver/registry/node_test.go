package registry

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestNodes(t *testing.T) {
	tainted := func(taints ...corev1.Taint) *corev1.Node { return &corev1.Node{Spec: corev1.NodeSpec{Taints: taints}} }
	dark := corev1.Taint{Key: "dark", Effect: "NoSchedule"}
	runObjectCases(t, Node(), map[string]objectCase{
		"a node may be tainted":         {obj: tainted(dark, corev1.Taint{Key: "dark", Effect: "NoExecute"})},
		"a taint is there once":         {obj: tainted(dark, dark), want: []string{"spec.taints[1] Duplicate"}},
		"a taint has an effect":         {obj: tainted(corev1.Taint{Key: "a b"}), want: []string{"spec.taints[0].effect Required", "spec.taints[0].key Invalid"}},
		"there is not less than no CPU": {obj: &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("-1")}}}, want: []string{"status.allocatable[cpu] Invalid"}},
		"a machine gets an identity":    {old: &corev1.Node{}, obj: &corev1.Node{Spec: corev1.NodeSpec{ProviderID: "x"}}},
		"a machine keeps its identity":  {old: &corev1.Node{Spec: corev1.NodeSpec{ProviderID: "x", PodCIDRs: []string{"y"}}}, obj: &corev1.Node{}, want: []string{"spec.podCIDRs Forbidden", "spec.providerID Forbidden"}},
	})
	n := registrytest.Posted(Node(), &corev1.Node{Status: corev1.NodeStatus{Capacity: corev1.ResourceList{"cpu": resource.MustParse("2")}}})
	if got := n.Status.Allocatable.Cpu().Value(); got != 2 {
		t.Errorf("allocatable %d CPUs, want the capacity of 2", got)
	}
}

func TestNodeRow(t *testing.T) {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", CreationTimestamp: registrytest.Ago(time.Hour), Labels: map[string]string{
			"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "",
		}},
		Spec: corev1.NodeSpec{Unschedulable: true},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}},
			NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: "v1", ContainerRuntimeVersion: "process://1.0"},
		},
	}
	want := []any{"n1", "Ready,SchedulingDisabled", "control-plane,worker", "60m", "v1", "127.0.0.1", "<none>", "<unknown>", "<unknown>", "process://1.0"}
	if diff := cmp.Diff(want, nodeRow(n, registrytest.Now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	n.Status.Conditions[0].Status, n.Spec.Unschedulable, n.Labels = corev1.ConditionUnknown, false, nil
	if diff := cmp.Diff([]any{"NotReady", "<none>"}, nodeRow(n, registrytest.Now)[1:3]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
