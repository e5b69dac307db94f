package pod

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

const firstContainer = "spec.containers[0]."

func TestPodSpecRules(t *testing.T) {
	runPodCases(t, map[string]podCase{
		"a plain pod is fine": {},
		"a pod needs a container": {podEdits(inSpec(func(s *corev1.PodSpec) { s.Containers = nil })),
			[]string{"spec.containers Required"}},
		"a restart policy is one of three": {podEdits(inSpec(func(s *corev1.PodSpec) { s.RestartPolicy = "Sometimes" })),
			[]string{"spec.restartPolicy NotSupported"}},
		"a deadline is in the future": {podEdits(inSpec(func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](0) })),
			[]string{"spec.activeDeadlineSeconds Invalid"}},
		"a deadline fits into 32 bits": {podEdits(inSpec(func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](1 << 31) })),
			[]string{"spec.activeDeadlineSeconds Invalid"}},
		"a node, an account and classes have names": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.NodeName, s.ServiceAccountName, s.PriorityClassName, s.RuntimeClassName = "No", "Ro", "Pr", ptr.To("Ru")
		})), []string{"spec.nodeName Invalid", "spec.priorityClassName Invalid", "spec.runtimeClassName Invalid", "spec.serviceAccountName Invalid"}},
		"a pod that waits behind a gate has no node": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.NodeName, s.SchedulingGates = "n1", []corev1.PodSchedulingGate{{Name: "quota"}}
		})), []string{"spec.nodeName Forbidden"}},
		"gates have distinct names": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.SchedulingGates = []corev1.PodSchedulingGate{{Name: "a"}, {Name: "a"}, {Name: "a b"}}
		})), []string{"spec.schedulingGates[1] Duplicate", "spec.schedulingGates[2] Invalid"}},
		"containers for debugging come later": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.EphemeralContainers = []corev1.EphemeralContainer{{}}
		})), []string{"spec.ephemeralContainers Forbidden", "spec.ephemeralContainers[0].name Required", "spec.ephemeralContainers[0].image Required"}},
		"an operating system is one of two": {podEdits(inSpec(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: "plan9"} })),
			[]string{"spec.os.name NotSupported"}},
		"preemption is one of two": {podEdits(inSpec(func(s *corev1.PodSpec) { s.PreemptionPolicy = ptr.To(corev1.PreemptionPolicy("Maybe")) })),
			[]string{"spec.preemptionPolicy NotSupported"}},
		"a resource claim is named and refers to one thing": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.ResourceClaims = []corev1.PodResourceClaim{{Name: "a", ResourceClaimName: ptr.To("x")}, {Name: "a", ResourceClaimName: ptr.To("x")}, {}}
		})), []string{"spec.resourceClaims[1].name Duplicate", "spec.resourceClaims[2] Invalid", "spec.resourceClaims[2].name Required"}},
	})
}

func TestTemplateMetadataIsValidated(t *testing.T) {
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a b": "c"}, Annotations: map[string]string{"d e": "f"}},
		Spec:       createdPod().Spec,
	}
	registrytest.WantErrors(t, ValidateTemplate(template, Options{}, field.NewPath("spec", "template")),
		"spec.template.annotations Invalid", "spec.template.labels Invalid")
}

func TestPodWarnings(t *testing.T) {
	for sentence, c := range map[string]struct {
		edit podEdit
		want string
	}{
		"a negative grace period is made one": {inSpec(func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = ptr.To[int64](-5) }), ""},
		"a variable that hides another": {withEnv(corev1.EnvVar{Name: "A", Value: "1"}, corev1.EnvVar{Name: "A", Value: "2"}),
			firstContainer + "env[1]: "},
		"a variable that builds on another": {withEnv(corev1.EnvVar{Name: "A", Value: "1"}, corev1.EnvVar{Name: "A", Value: "$(A)2"}), ""},
		"a secret without a name": {inSpec(func(s *corev1.PodSpec) { s.ImagePullSecrets = []corev1.LocalObjectReference{{}} }),
			"spec.imagePullSecrets[0].name: "},
		"a name that is no label": {func(p *corev1.Pod) { p.Name = "a.b" }, "metadata.name: "},
		"an old label of nodes":   {inSpec(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"beta.kubernetes.io/os": "linux"} }), "spec.nodeSelector[beta.kubernetes.io/os]: "},
		"a selector of nothing": {inSpec(func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{}}
		}), "spec.topologySpreadConstraints[0].labelSelector: "},
		"a port twice": {inContainer(func(c *corev1.Container) { c.Ports = registrytest.Times(2, corev1.ContainerPort{ContainerPort: 80}) }), firstContainer + "ports[1]: duplicate"},
		"a file inside another": {withVolume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", Items: []corev1.KeyToPath{{Path: "a/b"}, {Path: "a"}}}}),
			`volume "data" (Secret "s"): overlapping paths: "a" with "a/b"`},
		"a kind of volume that is gone": {withVolume(corev1.VolumeSource{GitRepo: &corev1.GitRepoVolumeSource{}}), "spec.volumes[0].gitRepo: "},
		"an annotation that has no effect": {func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.SeccompPodAnnotationKey: "unconfined"} },
			"metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: "},
		"as much as there can be": {inContainer(func(c *corev1.Container) {
			c.Resources.Requests = corev1.ResourceList{"memory": amount("10E")}
		}), ""},
		"a tenth of a byte": {inContainer(func(c *corev1.Container) {
			c.Resources.Requests = corev1.ResourceList{"memory": amount("100m")}
		}), firstContainer + "resources.requests[memory]: "},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := Resource(Options{}).WarningsOnCreate(context.Background(), createdPod(c.edit))
			if c.want == "" && len(got) == 0 {
				return
			}
			if len(got) != 1 || c.want == "" || !strings.HasPrefix(got[0], c.want) {
				t.Errorf("got %q, want one that starts with %q", got, c.want)
			}
		})
	}
}
