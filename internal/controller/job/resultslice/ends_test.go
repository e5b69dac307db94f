package resultslice

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/stint-dev/stint/test/wrappers"
)

func TestEndsAreNotedOfPodsThatWereCountedBefore(t *testing.T) {
	s := &Store{jobs: map[types.UID]*jobResults{}}
	podOf := func(name string, phase corev1.PodPhase) *corev1.Pod {
		return wrappers.MakePod(name).UID(types.UID(name)).Controller(wrappers.MakeJob("j").UID("job").Obj()).Phase(phase).Obj()
	}
	ends := &s.of("job").podEnds
	ends.await([]*corev1.Pod{podOf("runs", corev1.PodRunning), podOf("ended", corev1.PodFailed)})
	for _, p := range []*corev1.Pod{podOf("runs", corev1.PodRunning), podOf("ended", corev1.PodFailed), podOf("other", corev1.PodFailed),
		podOf("runs", corev1.PodFailed), podOf("runs", corev1.PodFailed)} {
		s.NoteEnd(p)
	}
	got := sets.New[string]()
	for _, e := range ends.take() {
		got.Insert(e.Pod + " " + string(e.Phase))
	}
	if !got.Equal(sets.New("runs Failed")) {
		t.Errorf("noted %v", got.UnsortedList())
	}
	if again := ends.take(); len(again) > 0 {
		t.Errorf("noted twice: %v", again)
	}
}
