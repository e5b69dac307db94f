package loop_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/controller/loop"
)

func pod(uid types.UID) *corev1.Pod {
	p := &corev1.Pod{}
	p.UID = uid
	return p
}

func TestAHandlerSeesWhatWasAndWhatIs(t *testing.T) {
	name := func(p *corev1.Pod) string {
		if p == nil {
			return "none"
		}
		return string(p.UID)
	}
	for what, c := range map[string]struct {
		happens func(cache.ResourceEventHandler)
		want    []string
	}{
		"an object that comes":        {func(h cache.ResourceEventHandler) { h.OnAdd(pod("a"), false) }, []string{"none→a"}},
		"one that changes":            {func(h cache.ResourceEventHandler) { h.OnUpdate(pod("a"), pod("a")) }, []string{"a→a"}},
		"one in the place of another": {func(h cache.ResourceEventHandler) { h.OnUpdate(pod("a"), pod("b")) }, []string{"a→none", "none→b"}},
		"one that goes":               {func(h cache.ResourceEventHandler) { h.OnDelete(pod("a")) }, []string{"a→none"}},
		"one that went unseen": {func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Obj: pod("a")})
		}, []string{"a→none"}},
	} {
		t.Run(what, func(t *testing.T) {
			var got []string
			c.happens(loop.Handler(func(was, is *corev1.Pod) { got = append(got, name(was)+"→"+name(is)) }))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
