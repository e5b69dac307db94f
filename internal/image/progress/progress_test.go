package progress_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/image/progress"
)

func waits(messages ...string) *corev1.Pod {
	pod := &corev1.Pod{}
	for _, m := range messages {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating", Message: m}}})
	}
	return pod
}

func TestImagesThatAPodWaitsFor(t *testing.T) {
	for sentence, tc := range map[string]struct {
		pod  *corev1.Pod
		want []string
	}{
		"two containers of one image, and one of another": {waits(progress.Message("a:1"), progress.Message("a:1"), progress.Message("b:2")), []string{"a:1", "b:2"}},
		"a name with quotes":                              {waits(progress.Message(`a"b`)), []string{`a"b`}},
		"something else":                                  {waits("", "no dir", "pulling image", "pulling image a"), nil},
		"a pod that nothing is known of":                  {&corev1.Pod{}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := progress.Images(tc.pod); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestWhatANodeTells(t *testing.T) {
	want := []progress.Pull{{Image: "a:1", Done: 34_000_000, Total: 120_000_000}, {Image: "b", Total: 1}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{progress.Annotation: progress.Text(want)}}}
	if diff := cmp.Diff(want, progress.Of(node)); diff != "" {
		t.Error(diff)
	}
	if text := want[0].String(); text != "34 MB of 120 MB (28%)" {
		t.Errorf("said as %q", text)
	}
	if text := (progress.Pull{Done: 5}).String(); text != "5 B of 0 B" {
		t.Errorf("said as %q", text)
	}
	for _, text := range []string{"", "x", "{}", `[{"image":1}]`, progress.Text(nil)} {
		node.Annotations[progress.Annotation] = text
		if pulls := progress.Of(node); pulls != nil {
			t.Errorf("%q tells of %v", text, pulls)
		}
	}
}
