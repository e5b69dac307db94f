package run

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestMissedFiles(t *testing.T) {
	files := []string{"/home/u/job.sh", "/home/u/sh", "/home/u/train.py", "/bin/sh", "/home/u/bin/sh", "/job.sh.orig", "/home/u/job.sh.orig"}
	exists := func(path string) bool { return slices.Contains(files, path) }
	for sentence, tc := range map[string]struct {
		container corev1.Container
		want      []string
	}{
		"a relative command":                    {corev1.Container{Command: []string{"./job.sh"}}, []string{"./job.sh"}},
		"a script for an interpreter":           {corev1.Container{Command: []string{"python3"}, Args: []string{"train.py", "-v"}}, []string{"train.py"}},
		"an absolute one":                       {corev1.Container{Command: []string{"/home/u/job.sh"}}, nil},
		"one that is not here either":           {corev1.Container{Command: []string{"./other.sh"}}, nil},
		"one that is there too":                 {corev1.Container{Command: []string{"bin/sh", "job.sh.orig"}}, nil},
		"a container that says where it starts": {corev1.Container{Command: []string{"./job.sh"}, WorkingDir: "/srv"}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			pod := &corev1.PodSpec{Containers: []corev1.Container{tc.container}}
			if got := missedFiles(pod, "/home/u", exists); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
