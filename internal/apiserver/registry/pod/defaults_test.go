package pod

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestTemplateDefaultsReadAsOnACluster(t *testing.T) {
	template := corev1.PodTemplateSpec{Spec: registrytest.Pod().Spec}
	SetTemplateDefaults(&template)
	want := corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "main", Image: "perl:5.34.0", Command: []string{"perl"}, ImagePullPolicy: "IfNotPresent",
			TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File",
		}},
		DNSPolicy: "ClusterFirst", RestartPolicy: "Never", SchedulerName: "default-scheduler",
		SecurityContext: &corev1.PodSecurityContext{}, TerminationGracePeriodSeconds: ptr.To[int64](30),
	}
	if diff := cmp.Diff(want, template.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func TestPodDefaults(t *testing.T) {
	cases := map[string]struct {
		edit podEdit
		got  func(*corev1.Pod) any
		want any
	}{
		"a pod restarts its containers": {inSpec(func(s *corev1.PodSpec) { s.RestartPolicy = "" }),
			func(p *corev1.Pod) any { return p.Spec.RestartPolicy }, corev1.RestartPolicyAlways},
		"a pod has service links": {inSpec(func(*corev1.PodSpec) {}),
			func(p *corev1.Pod) any { return *p.Spec.EnableServiceLinks }, true},
		"a limit is requested": {inContainer(func(c *corev1.Container) {
			c.Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("2")}
		}), func(p *corev1.Pod) any { return p.Spec.Containers[0].Resources.Requests.Cpu().String() }, "2"},
		"a request stays beside its limit": {inContainer(func(c *corev1.Container) {
			c.Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("2")}
			c.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
		}), func(p *corev1.Pod) any { return p.Spec.Containers[0].Resources.Requests.Cpu().String() }, "1"},
		"amounts are rounded up to thousandths": {inContainer(func(c *corev1.Container) {
			c.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("100u")}
		}), func(p *corev1.Pod) any { return p.Spec.Containers[0].Resources.Requests.Cpu().String() }, "1m"},
		"a limit of the pod is requested": {inSpec(func(s *corev1.PodSpec) {
			s.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("2")}}
		}), func(p *corev1.Pod) any { return p.Spec.Resources.Requests.Cpu().String() }, "2"},
		"a limit of the pod is no more than its containers ask for": {func(p *corev1.Pod) {
			p.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("2")}}
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("500m")}
		}, func(p *corev1.Pod) any { return p.Spec.Resources.Requests.Cpu().String() }, "500m"},
		"a probe over gRPC asks for the whole server": {inContainer(func(c *corev1.Container) {
			c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 1}}}
		}), func(p *corev1.Pod) any { return *p.Spec.Containers[0].LivenessProbe.GRPC.Service }, ""},
		"a port is TCP": {inContainer(func(c *corev1.Container) { c.Ports = []corev1.ContainerPort{{ContainerPort: 80}} }),
			func(p *corev1.Pod) any { return p.Spec.Containers[0].Ports[0].Protocol }, corev1.ProtocolTCP},
		"a port on the host's network is the host's": {func(p *corev1.Pod) {
			p.Spec.HostNetwork = true
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
		}, func(p *corev1.Pod) any { return p.Spec.Containers[0].Ports[0].HostPort }, int32(80)},
		"a field reference has a version": {envFrom(corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}),
			func(p *corev1.Pod) any { return p.Spec.Containers[0].Env[0].ValueFrom.FieldRef.APIVersion }, "v1"},
		"a volume without a source is an empty folder": {withVolume(corev1.VolumeSource{}),
			func(p *corev1.Pod) any { return p.Spec.Volumes[0].EmptyDir }, &corev1.EmptyDirVolumeSource{}},
		"files of a config map can be read": {withVolume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}),
			func(p *corev1.Pod) any { return *p.Spec.Volumes[0].ConfigMap.DefaultMode }, int32(0o644)},
		"files of a secret can be read": {withVolume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}),
			func(p *corev1.Pod) any { return *p.Spec.Volumes[0].Secret.DefaultMode }, int32(0o644)},
		"a host path may be anything": {withVolume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv"}}),
			func(p *corev1.Pod) any { return *p.Spec.Volumes[0].HostPath.Type }, corev1.HostPathUnset},
		"fields in files have versions": {withVolume(corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
			Items: []corev1.DownwardAPIVolumeFile{{Path: "n", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
		}}), func(p *corev1.Pod) any { return p.Spec.Volumes[0].DownwardAPI.Items[0].FieldRef.APIVersion }, "v1"},
		"a token among files lasts an hour": {withVolume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{}}},
		}}), func(p *corev1.Pod) any {
			return *p.Spec.Volumes[0].Projected.Sources[0].ServiceAccountToken.ExpirationSeconds
		}, int64(3600)},
		"a probe asks for / over HTTP": {inContainer(func(c *corev1.Container) {
			c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{}}}
		}), func(p *corev1.Pod) any { return *p.Spec.Containers[0].LivenessProbe }, corev1.Probe{
			ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Scheme: "HTTP"}},
			TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
		}},
		"the old name of the account still works": {inSpec(func(s *corev1.PodSpec) { s.DeprecatedServiceAccount = "robot" }),
			func(p *corev1.Pod) any { return p.Spec.ServiceAccountName }, "robot"},
		"the account has its old name too": {inSpec(func(s *corev1.PodSpec) { s.ServiceAccountName = "robot" }),
			func(p *corev1.Pod) any { return p.Spec.DeprecatedServiceAccount }, "robot"},
	}
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			pod := registrytest.Pod(c.edit)
			setDefaults(pod)
			if diff := cmp.Diff(c.want, c.got(pod)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPullPolicyFollowsTheTag(t *testing.T) {
	for image, want := range map[string]corev1.PullPolicy{
		"perl":                           corev1.PullAlways,
		"perl:latest":                    corev1.PullAlways,
		"localhost:5000/perl":            corev1.PullAlways,
		"perl:5.34.0":                    corev1.PullIfNotPresent,
		"localhost:5000/perl:5.34.0":     corev1.PullIfNotPresent,
		"perl@sha256:0123456789abcdef":   corev1.PullIfNotPresent,
		"perl:latest@sha256:01234567890": corev1.PullIfNotPresent,
	} {
		if got := defaultPullPolicy(image); got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
}

// Defaults do not change when they are set again, for any combination of these edits.
func TestPodDefaultsAreIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pod := registrytest.Pod(rapid.SliceOfN(rapid.SampledFrom([]podEdit{
			withVolume(corev1.VolumeSource{}),
			withVolume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}),
			withInit(corev1.Container{Name: "first", Ports: []corev1.ContainerPort{{ContainerPort: 1}}}),
			inSpec(func(s *corev1.PodSpec) { s.HostNetwork = true }),
			inSpec(func(s *corev1.PodSpec) { s.RestartPolicy = "" }),
			inSpec(func(s *corev1.PodSpec) { s.DeprecatedServiceAccount = "robot" }),
			inSpec(func(s *corev1.PodSpec) {
				s.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1")}}
			}),
			inContainer(func(c *corev1.Container) {
				c.Resources.Limits = corev1.ResourceList{"memory": resource.MustParse("1500m")}
			}),
			inContainer(func(c *corev1.Container) { c.Image = "perl" }),
		}), 0, 6).Draw(t, "edits")...)
		pod = pod.DeepCopy() // the edits may share pointers
		setDefaults(pod)
		once := pod.DeepCopy()
		setDefaults(pod)
		if diff := cmp.Diff(once, pod); diff != "" {
			t.Fatalf("second defaulting (-once +twice):\n%s", diff)
		}
	})
}
