package lifecycle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestTheStatusSaysHowVolumesAreMounted(t *testing.T) {
	const disabled, enabled = corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled
	mount := func(readOnly bool, recursive corev1.RecursiveReadOnlyMode) corev1.VolumeMount {
		return corev1.VolumeMount{Name: "v", MountPath: "/v", ReadOnly: readOnly, RecursiveReadOnly: &recursive}
	}
	for sentence, c := range map[string]struct {
		mount corev1.VolumeMount
		holds bool
		want  *corev1.RecursiveReadOnlyMode
	}{
		"one that can be written":                {corev1.VolumeMount{Name: "v", MountPath: "/v"}, true, nil},
		"one that is read-only by itself":        {corev1.VolumeMount{Name: "v", MountPath: "/v", ReadOnly: true}, true, new(disabled)},
		"one that asks for no more":              {mount(true, disabled), true, new(disabled)},
		"with all below":                         {mount(true, enabled), true, new(enabled)},
		"with all below, as it is possible":      {mount(true, corev1.RecursiveReadOnlyIfPossible), true, new(enabled)},
		"by itself, as more is not possible":     {mount(true, corev1.RecursiveReadOnlyIfPossible), false, new(disabled)},
		"one that can be written, all below too": {mount(false, disabled), true, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(never, "a").runs("a", 0, t0)
			w.mountsReadOnly = c.holds
			w.pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{c.mount}
			want := []corev1.VolumeMountStatus{{Name: "v", MountPath: "/v", ReadOnly: c.mount.ReadOnly, RecursiveReadOnly: c.want}}
			if diff := cmp.Diff(want, w.decide(at(1)).Status.ContainerStatuses[0].VolumeMounts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	waiting := newWorld(never, "a")
	waiting.pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{mount(true, enabled)}
	if got := waiting.decide(t0).Status.ContainerStatuses[0].VolumeMounts; got != nil {
		t.Errorf("a container that has not started: %v", got)
	}
}
