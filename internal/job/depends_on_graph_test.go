package job

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestDependencyGraphHasTheDependenciesSetLast(t *testing.T) {
	in := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: name} }
	w := NewDependencyGraph()
	w.Set(in("b"), []string{"a"})
	w.Set(in("c"), []string{"a", "b"})
	w.Set(types.NamespacedName{Namespace: "other", Name: "d"}, []string{"a"})
	wantWaiters := func(awaited string, want ...string) {
		t.Helper()
		var got []string
		for _, job := range w.WaitersOf(in(awaited)) {
			got = append(got, job.Name)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%v wait for %s, want %v", got, awaited, want)
		}
	}
	wantWaiters("a", "b", "c")
	wantWaiters("b", "c")
	w.Set(in("c"), []string{"b"})
	wantWaiters("a", "b")
	wantWaiters("b", "c")
	if got := w.Cycle(in("a"), "c"); !slices.Equal(got, []string{"a", "c", "b", "a"}) {
		t.Errorf("a would wait for c, which waits for b, which waits for a: %v", got)
	}
	if got := w.Cycle(in("x"), "x"); !slices.Equal(got, []string{"x", "x"}) {
		t.Errorf("a Job that waits for itself: %v", got)
	}
	if got := w.Cycle(in("x"), "c"); got != nil {
		t.Errorf("nobody waits for x: %v", got)
	}
	w.Set(in("c"), nil)
	w.Set(in("b"), nil)
	wantWaiters("a")
	wantWaiters("b")
	if w.Len() != 1 {
		t.Errorf("%d Jobs wait, want the one of the other namespace", w.Len())
	}
}
