package pod

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func ended(name string, exitCode int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exitCode}}}
}

func running(name string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func restarting(policy corev1.RestartPolicy) podEdit {
	return inSpec(func(s *corev1.PodSpec) { s.RestartPolicy = policy })
}

func TestPodStatusUpdates(t *testing.T) {
	main := func(status corev1.ContainerStatus) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status}}
	}
	first := func(status corev1.ContainerStatus) corev1.PodStatus {
		return corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{status}}
	}
	const state = "status.containerStatuses[0].state Forbidden"
	sidecar := withInit(corev1.Container{Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)})
	for sentence, c := range map[string]struct {
		pod      []podEdit
		old, new corev1.PodStatus
		want     []string
	}{
		"a container may start":                    {new: main(running("main"))},
		"a container may end":                      {old: main(running("main")), new: main(ended("main", 1))},
		"an end may not be taken back":             {old: main(ended("main", 1)), new: main(running("main")), want: []string{state}},
		"a failure may be tried again":             {pod: podEdits(restarting("OnFailure")), old: main(ended("main", 1)), new: main(running("main"))},
		"a success may not":                        {pod: podEdits(restarting("OnFailure")), old: main(ended("main", 0)), new: main(running("main")), want: []string{state}},
		"what always runs may start again":         {pod: podEdits(restarting("Always")), old: main(ended("main", 0)), new: main(running("main"))},
		"a container's own policy counts for more": {pod: podEdits(inContainer(func(c *corev1.Container) { c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways) })), old: main(ended("main", 0)), new: main(running("main"))},
		"an init container that ended has":         {pod: podEdits(withInit(corev1.Container{Name: "first"})), old: first(ended("first", 0)), new: first(running("first")), want: []string{"status.initContainerStatuses[0].state Forbidden"}},
		"a sidecar starts again":                   {pod: podEdits(sidecar), old: first(ended("side", 0)), new: first(running("side"))},
		"a class of service stays":                 {old: corev1.PodStatus{}, new: corev1.PodStatus{QOSClass: corev1.PodQOSGuaranteed}, want: []string{"status.qosClass Invalid"}},
		"a condition has a name":                   {new: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: "Ready"}, {Type: "a b"}}}, want: []string{"status.conditions[1].type Invalid"}},
		"a rule may start a container again": {pod: podEdits(inContainer(func(c *corev1.Container) {
			c.RestartPolicy, c.RestartPolicyRules = ptr.To(corev1.ContainerRestartPolicyNever), []corev1.ContainerRestartRule{restartOn(42)}
		})), old: main(ended("main", 42)), new: main(running("main"))},
		"a rule about another code may not": {pod: podEdits(inContainer(func(c *corev1.Container) {
			c.RestartPolicy, c.RestartPolicyRules = ptr.To(corev1.ContainerRestartPolicyNever), []corev1.ContainerRestartRule{restartOn(42)}
		})), old: main(ended("main", 1)), new: main(running("main")), want: []string{state}},
		"a pod has an address of each family":          {new: corev1.PodStatus{PodIPs: []corev1.PodIP{{IP: "1.2.3.4"}, {IP: "::1"}}}},
		"a pod has no two of one":                      {new: corev1.PodStatus{PodIPs: []corev1.PodIP{{IP: "1.2.3.4"}, {IP: "1.2.3.5"}}}, want: []string{"status.podIPs Invalid"}},
		"an address is one":                            {new: corev1.PodStatus{PodIP: "here"}, want: []string{"status.podIPs[0] Invalid"}},
		"the host's addresses agree":                   {new: corev1.PodStatus{HostIP: "1.2.3.4", HostIPs: []corev1.HostIP{{IP: "1.2.3.5"}}}, want: []string{"status.hostIPs[0].ip Invalid"}},
		"a nominated node has a name":                  {new: corev1.PodStatus{NominatedNodeName: "N 1"}, want: []string{"status.nominatedNodeName Invalid"}},
		"an observed generation is a number of a spec": {new: corev1.PodStatus{ObservedGeneration: -1}, want: []string{"status.observedGeneration Invalid"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, ctx := Resource(Options{}).Status, context.Background()
			old := createdPod(c.pod...)
			c.old.QOSClass = old.Status.QOSClass
			old.Status = c.old
			pod := old.DeepCopy()
			pod.Status = c.new
			s.PrepareForUpdate(ctx, pod, old)
			registrytest.WantErrors(t, s.ValidateUpdate(ctx, pod, old), c.want...)
		})
	}
}

func TestPodStatusUpdateTouchesNothingElse(t *testing.T) {
	old := createdPod(func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Name: "pi"}}
		p.DeletionTimestamp = &metav1.Time{}
	})
	pod := old.DeepCopy()
	pod.Spec.Containers[0].Image = "other"
	pod.OwnerReferences, pod.DeletionTimestamp, pod.Generation = nil, nil, 9
	pod.Status.PodIP = "10.0.0.1"
	pod.Status.QOSClass = ""

	Resource(Options{}).Status.PrepareForUpdate(context.Background(), pod, old)

	want := old.DeepCopy()
	want.Status.PodIP, want.Status.PodIPs = "10.0.0.1", []corev1.PodIP{{IP: "10.0.0.1"}}
	if diff := cmp.Diff(want, pod); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
