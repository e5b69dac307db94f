package pod

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	"github.com/stint-dev/stint/internal/node/runtime"
)

type podEdit = func(*corev1.Pod)

// createdPod returns a pod as the server stores it when it is created.
func createdPod(edits ...podEdit) *corev1.Pod {
	pod, r := registrytest.Pod(edits...), Resource(Options{})
	r.Default(pod)
	r.PrepareForCreate(context.Background(), pod)
	return pod
}

// editedPod returns a copy of pod with the edits, as in an update.
func editedPod(pod *corev1.Pod, edits ...podEdit) *corev1.Pod {
	pod = pod.DeepCopy()
	for _, edit := range edits {
		edit(pod)
	}
	Resource(Options{}).Default(pod)
	return pod
}

func inSpec(edit func(*corev1.PodSpec)) podEdit { return func(pod *corev1.Pod) { edit(&pod.Spec) } }

func inContainer(edit func(*corev1.Container)) podEdit {
	return func(pod *corev1.Pod) { edit(&pod.Spec.Containers[0]) }
}

func withInit(c corev1.Container) podEdit {
	if c.Command == nil {
		c.Command = []string{"true"}
	}
	if c.Image == "" {
		c.Image = "busybox:1.28"
	}
	return inSpec(func(s *corev1.PodSpec) { s.InitContainers = append(s.InitContainers, c) })
}

// withVolume returns an edit that mounts the volume at /data.
func withVolume(source corev1.VolumeSource) podEdit {
	return func(pod *corev1.Pod) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: source})
		c := &pod.Spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "data", MountPath: "/data"})
	}
}

func inMount(edit func(*corev1.VolumeMount)) podEdit {
	return inContainer(func(c *corev1.Container) { edit(&c.VolumeMounts[0]) })
}

func withEnv(vars ...corev1.EnvVar) podEdit {
	return inContainer(func(c *corev1.Container) { c.Env = append(c.Env, vars...) })
}

func envFrom(source corev1.EnvVarSource) podEdit {
	return withEnv(corev1.EnvVar{Name: "V", ValueFrom: &source})
}

func podEdits(e ...podEdit) []podEdit { return e }

// podCase is a pod to be created, with the expected errors.
type podCase struct {
	edits []podEdit
	want  []string
}

func runPodCases(t *testing.T, cases map[string]podCase) {
	t.Helper()
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			registrytest.WantErrors(t, Resource(Options{}).Validate(context.Background(), createdPod(c.edits...)), c.want...)
		})
	}
}

// unable is a process runtime on a machine where it has no abilities.
var unable = runtime.Info{Name: "process", WhyNoMount: "user namespaces are switched off"}

func on(info runtime.Info) Options { return Options{Node: func() runtime.Info { return info }} }

func amount(s string) resource.Quantity { return resource.MustParse(s) }
