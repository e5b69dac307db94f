package pod

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodsOwnLabelsAreSelected(t *testing.T) {
	selector := func() *metav1.LabelSelector { return &metav1.LabelSelector{MatchLabels: map[string]string{"x": "y"}} }
	pod := createdPod(func(p *corev1.Pod) { p.Labels = map[string]string{"app": "a", "old": "b"} }, inSpec(func(s *corev1.PodSpec) {
		s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MatchLabelKeys: []string{"app", "missing"}, LabelSelector: selector()}, {MatchLabelKeys: []string{"app"}}}
		s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{MatchLabelKeys: []string{"app"}, MismatchLabelKeys: []string{"old"}, LabelSelector: selector()}},
		}}
	}))
	want := func(added ...metav1.LabelSelectorRequirement) *metav1.LabelSelector {
		s := selector()
		s.MatchExpressions = added
		return s
	}
	in := metav1.LabelSelectorRequirement{Key: "app", Operator: "In", Values: []string{"a"}}
	notIn := metav1.LabelSelectorRequirement{Key: "old", Operator: "NotIn", Values: []string{"b"}}
	for what, c := range map[string]struct{ want, got *metav1.LabelSelector }{
		"a constraint":                    {want(in), pod.Spec.TopologySpreadConstraints[0].LabelSelector},
		"a constraint without a selector": {nil, pod.Spec.TopologySpreadConstraints[1].LabelSelector},
		"a term":                          {want(in, notIn), pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

func TestPodTakesAppArmorFromItsAnnotations(t *testing.T) {
	pod := createdPod(withInit(corev1.Container{Name: "first"}), func(p *corev1.Pod) {
		p.Annotations = map[string]string{
			"container.apparmor.security.beta.kubernetes.io/main":  "localhost/a",
			"container.apparmor.security.beta.kubernetes.io/first": "odd",
		}
	})
	profile := appArmorOf(&pod.Spec.Containers[0])
	if profile == nil || profile.Type != corev1.AppArmorProfileTypeLocalhost || *profile.LocalhostProfile != "a" {
		t.Errorf("main has %v", profile)
	}
	if profile := appArmorOf(&pod.Spec.InitContainers[0]); profile != nil {
		t.Errorf("first has %v, from a value that is none", profile)
	}
}
