package lifecycle_test

import (
	"testing"

	"github.com/stint-dev/stint/internal/node/lifecycle"
)

func TestAnEvictionIsRestored(t *testing.T) {
	w := newWorld(never, "a").runs("a", 0, t0).evicted(at(1))
	w.pod.Status = w.decide(at(1)).Status
	w.exited("a", 0, 143, at(2))
	w.eviction = lifecycle.RestoreEviction(w.pod)
	if d := w.decide(at(3)); !d.Ended || d.Status.Reason != "Evicted" || d.Status.Message != "too much" {
		t.Errorf("decided %+v", d)
	}
	if got := lifecycle.RestoreEviction(newWorld(never, "a").pod); got != nil {
		t.Errorf("a pod that was not evicted restores %+v", got)
	}
}
