package job

import (
	"testing"

	"github.com/stint-dev/stint/test/wrappers"
)

// TestARemovedPodIsNotLeft: the informer may show a pod late, and as it was, after it was told to go. Were it taken for one
// that is left, an older one would go for it.
func TestARemovedPodIsNotLeft(t *testing.T) {
	f := newFailedPods()
	older := wrappers.MakePod("older").UID("older").Obj()
	newer := wrappers.MakePod("newer").UID("newer").Obj()
	f.keep("job", older)
	f.remove("newer")
	if n := f.keep("job", newer); n != 1 {
		t.Errorf("%d pods are left, want one", n)
	}
	if left := f.of("job"); len(left) != 1 || left[0] != older {
		t.Errorf("left: %v", left)
	}
}
