package loop_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestTheStateOfAnObjectIsNotThatOfAnotherOfItsName(t *testing.T) {
	parents := loop.NewParents[*corev1.Pod, int](nil, "Pod", nil, nil)
	object := func(uid types.UID) *corev1.Pod { return wrappers.MakePod("p").UID(uid).Obj() }
	known := func(uid types.UID) (state int) {
		state = -1
		parents.UpdateKnown(loop.Key(object(uid)), uid, func(s *int) { state = *s })
		return state
	}
	add := func(s *int) { *s++ }
	for _, step := range []struct {
		what          string
		do            func()
		first, second int
	}{
		{"nothing is known", func() {}, -1, -1},
		{"the first has a state", func() { parents.Update(object("1"), add) }, 1, -1},
		{"it is kept", func() { parents.Update(object("1"), add) }, 2, -1},
		{"the second has its name", func() { parents.Update(object("2"), add) }, -1, 1},
		{"the first is forgotten late", func() { parents.Forget(object("1")) }, -1, 1},
		{"the second is forgotten", func() { parents.Forget(object("2")) }, -1, -1},
	} {
		step.do()
		if first, second := known("1"), known("2"); first != step.first || second != step.second {
			t.Errorf("%s: states %d and %d, want %d and %d", step.what, first, second, step.first, step.second)
		}
	}
}
