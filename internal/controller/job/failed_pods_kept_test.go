package job

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestARemovedPodIsNotLeft: the informer may show a pod late, and as it was, after it was told to go. Were it taken for one
// that is left, an older one would go for it.
func TestARemovedPodIsNotLeft(t *testing.T) {
	f := newFailedPods()
	older := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "older", UID: "older"}}
	newer := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "newer", UID: "newer"}}
	f.keep("job", older)
	f.remove("newer")
	if n := f.keep("job", newer); n != 1 {
		t.Errorf("%d pods are left, want one", n)
	}
	if left := f.of("job"); len(left) != 1 || left[0] != older {
		t.Errorf("left: %v", left)
	}
}
