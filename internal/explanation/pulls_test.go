package explanation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/image/progress"
)

func TestAPodThatWaitsForAPullShowsItsProgress(t *testing.T) {
	pulls := []progress.Pull{{Image: "b:1", Done: 1, Total: 2}, {Image: "a:1", Done: 34_000_000, Total: 120_000_000}}
	for before, want := range map[string]string{
		progress.Message("a:1"): `pulling image "a:1", 34 MB of 120 MB (28%)`,
		progress.Message("c:1"): `pulling image "c:1"`,
		"no dir":                "no dir",
	} {
		pod := &corev1.Pod{}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating", Message: before}}}}
		if got := withPull(pod, pulls).Status.ContainerStatuses[0].State.Waiting.Message; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if is := pod.Status.ContainerStatuses[0].State.Waiting.Message; is != before {
			t.Errorf("the pod itself was changed: %s", is)
		}
	}
}
