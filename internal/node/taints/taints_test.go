package taints_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/taints"
)

func taint(key, value string, effect corev1.TaintEffect) corev1.Taint {
	return corev1.Taint{Key: key, Value: value, Effect: effect}
}

func node(unschedulable bool, list ...corev1.Taint) *corev1.Node {
	return &corev1.Node{Spec: corev1.NodeSpec{Unschedulable: unschedulable, Taints: list}}
}

func equals(key, value string, effect corev1.TaintEffect) corev1.Toleration {
	return corev1.Toleration{Key: key, Value: value, Effect: effect}
}

func limited(key string, seconds int64) corev1.Toleration {
	return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, TolerationSeconds: ptr.To(seconds)}
}

var everything = corev1.Toleration{Operator: corev1.TolerationOpExists}

func TestFindBlockingTaint(t *testing.T) {
	pressed := node(false)
	pressed.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue}}
	noSchedule, noExecute := taint("gpu", "yes", corev1.TaintEffectNoSchedule), taint("gpu", "yes", corev1.TaintEffectNoExecute)
	for sentence, tc := range map[string]struct {
		node *corev1.Node
		pod  corev1.PodSpec
		want string
	}{
		"without taints every pod comes in":      {node: node(false)},
		"NoSchedule":                             {node: node(false, noSchedule), want: "gpu=yes:NoSchedule"},
		"NoExecute":                              {node: node(false, noExecute), want: "gpu=yes:NoExecute"},
		"PreferNoSchedule has no better node":    {node: node(false, taint("gpu", "yes", corev1.TaintEffectPreferNoSchedule))},
		"full disks":                             {node: pressed, want: "node.kubernetes.io/disk-pressure:NoSchedule"},
		"a cordon":                               {node: node(true), want: "node.kubernetes.io/unschedulable:NoSchedule"},
		"a tolerated cordon":                     {node: node(true), pod: corev1.PodSpec{Tolerations: []corev1.Toleration{everything}}},
		"the value has to match":                 {node: node(false, noSchedule), pod: corev1.PodSpec{Tolerations: []corev1.Toleration{equals("gpu", "no", "")}}, want: "gpu=yes:NoSchedule"},
		"the effect has to match":                {node: node(false, noSchedule), pod: corev1.PodSpec{Tolerations: []corev1.Toleration{equals("gpu", "yes", corev1.TaintEffectNoExecute)}}, want: "gpu=yes:NoSchedule"},
		"no effect matches all":                  {node: node(false, noSchedule, noExecute), pod: corev1.PodSpec{Tolerations: []corev1.Toleration{equals("gpu", "yes", "")}}},
		"one of two is not tolerated":            {node: node(true, noSchedule), pod: corev1.PodSpec{Tolerations: []corev1.Toleration{equals("gpu", "yes", "")}}, want: "node.kubernetes.io/unschedulable:NoSchedule"},
		"tolerated for a time is tolerated":      {node: node(false, noExecute), pod: corev1.PodSpec{Tolerations: []corev1.Toleration{limited("gpu", 0)}}},
		"NoSchedule is for the scheduler":        {node: node(false, noSchedule), pod: corev1.PodSpec{NodeName: "here"}},
		"a named node does not bypass NoExecute": {node: node(false, noExecute), pod: corev1.PodSpec{NodeName: "here"}, want: "gpu=yes:NoExecute"},
	} {
		t.Run(sentence, func(t *testing.T) {
			first, out := taints.FindBlockingTaint(taints.Of(tc.node), &tc.pod)
			got := ""
			if out {
				got = first.ToString()
			}
			if got != tc.want {
				t.Errorf("kept out by %q, want %q", got, tc.want)
			}
		})
	}
}

func TestFindEvictingTaint(t *testing.T) {
	a, b := taint("a", "", corev1.TaintEffectNoExecute), taint("b", "", corev1.TaintEffectNoExecute)
	const stays = -1
	for sentence, tc := range map[string]struct {
		taints      []corev1.Taint
		tolerations []corev1.Toleration
		want        time.Duration
	}{
		"NoSchedule leaves what runs alone":           {taints: []corev1.Taint{taint("a", "", corev1.TaintEffectNoSchedule)}, want: stays},
		"at once":                                     {taints: []corev1.Taint{a}, want: 0},
		"never":                                       {taints: []corev1.Taint{a}, tolerations: []corev1.Toleration{everything}, want: stays},
		"after its time":                              {taints: []corev1.Taint{a}, tolerations: []corev1.Toleration{limited("a", 60)}, want: time.Minute},
		"a time before now is at once":                {taints: []corev1.Taint{a}, tolerations: []corev1.Toleration{limited("a", -5)}, want: 0},
		"a time beyond all bounds":                    {taints: []corev1.Taint{a}, tolerations: []corev1.Toleration{limited("a", 1<<62)}, want: 9223372036 * time.Second},
		"the first toleration that matches counts":    {taints: []corev1.Taint{a}, tolerations: []corev1.Toleration{limited("a", 60), limited("a", 5)}, want: time.Minute},
		"the shortest of several taints":              {taints: []corev1.Taint{a, b}, tolerations: []corev1.Toleration{limited("a", 60), limited("b", 5)}, want: 5 * time.Second},
		"of several taints one that is not tolerated": {taints: []corev1.Taint{a, b}, tolerations: []corev1.Toleration{limited("a", 60)}, want: 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, got, away := taints.FindEvictingTaint(tc.taints, &corev1.PodSpec{Tolerations: tc.tolerations})
			if !away {
				got = stays
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
