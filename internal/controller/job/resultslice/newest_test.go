package resultslice

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/test/wrappers"
)

func TestAnotherPodOfTheSameNameIsNoNewerVersion(t *testing.T) {
	version := func(version string, uid types.UID) *wrappers.PodWrapper {
		return wrappers.MakePod("p").Namespace("default").UID(uid).ResourceVersion(version)
	}
	p := version("1", "p").Obj()
	same, other := version("2", "p").Phase(corev1.PodSucceeded).Obj(), version("3", "other").Phase(corev1.PodSucceeded).Obj()
	for name, tt := range map[string]struct{ cached, want *corev1.Pod }{
		"a newer version": {same, same},
		"another pod":     {other, p},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Store{cachedPods: cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, cache.Indexers{})}
			if err := s.cachedPods.GetStore().Add(tt.cached); err != nil {
				t.Fatal(err)
			}
			if got := s.newest(p); got != tt.want {
				t.Errorf("got version %s, want %s", got.ResourceVersion, tt.want.ResourceVersion)
			}
		})
	}
}
