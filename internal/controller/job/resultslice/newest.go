package resultslice

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/internal/results"
)

// resultsOf returns the results of pods, as the newest version known of each shows them, in the order of their ends.
func (s *Store) resultsOf(pods []*corev1.Pod) (all []stintv1.PodResult) {
	for _, p := range slices.SortedStableFunc(slices.Values(pods), byVersion) {
		all = append(all, results.Of(s.newest(p)))
	}
	return all
}

// byVersion orders pods by their last writes, which are about their ends. Their times are only whole seconds.
func byVersion(a, b *corev1.Pod) int {
	switch {
	case loop.Older(a, b):
		return -1
	case loop.Older(b, a):
		return 1
	}
	return 0
}

// newest returns the cached version of a pod that had not terminated when the controller decided to count it.
func (s *Store) newest(p *corev1.Pod) *corev1.Pod {
	if podstatus.IsTerminated(p) {
		return p
	}
	if cached := loop.Cached[*corev1.Pod](s.cachedPods, loop.Key(p)); cached != nil && cached.UID == p.UID {
		return cached
	}
	return p
}
