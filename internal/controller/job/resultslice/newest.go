package resultslice

import (
	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/internal/results"
)

// resultsOf returns the results of pods, as the newest version known of each shows them.
func (s *Store) resultsOf(pods []*corev1.Pod) (all []stintv1.PodResult) {
	for _, p := range pods {
		all = append(all, results.Of(s.newest(p)))
	}
	return all
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
