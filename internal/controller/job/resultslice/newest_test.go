package resultslice

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// One batch has the pods in the order of their UIDs, which says nothing of what came first in a second.
func TestPodsOfOneBatchAreRecordedInTheOrderOfTheirEnds(t *testing.T) {
	ended := func(name, version string) *corev1.Pod {
		return wrappers.MakePod(name).UID(types.UID(name)).ResourceVersion(version).Exited(0, metav1.Unix(1, 0)).Obj()
	}
	var got []string
	for _, r := range new(Store).resultsOf([]*corev1.Pod{ended("a", "30"), ended("b", "9"), ended("c", "10")}) {
		got = append(got, r.Pod)
	}
	if want := []string{"b", "c", "a"}; !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
}
