package podspec_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/podspec"
)

func TestContainersOfAllKinds(t *testing.T) {
	s := &corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "i"}}, Containers: []corev1.Container{{Name: "m"}},
		EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "e"}}},
	}
	var names []string
	for c := range podspec.Containers(s) {
		names = append(names, c.Name)
		if podspec.Container(s, c.Name) != c {
			t.Errorf("%s is not found, or not in place", c.Name)
		}
	}
	if want := []string{"i", "m", "e"}; !slices.Equal(names, want) {
		t.Errorf("yields %q, want %q", names, want)
	}
	if podspec.Container(s, "other") != nil {
		t.Error("a container that is not there is found")
	}
}
