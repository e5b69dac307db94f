package resultslice

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/internal/results"
)

// podEnds are the results of pods that terminated after they were counted: these are stored a second time.
type podEnds struct {
	mu      sync.Mutex
	awaited sets.Set[types.UID]
	seen    []stintv1.PodResult
}

// await waits for the end of those pods that have not terminated.
func (e *podEnds) await(pods []*corev1.Pod) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range pods {
		if podstatus.IsTerminated(p) {
			continue
		}
		if e.awaited == nil {
			e.awaited = sets.New[types.UID]()
		}
		e.awaited.Insert(p.UID)
	}
}

// note keeps the result of a terminated pod if its end was awaited.
func (e *podEnds) note(p *corev1.Pod) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.awaited.Has(p.UID) {
		e.awaited.Delete(p.UID)
		e.seen = append(e.seen, results.Of(p))
	}
}

// take returns the ends that were noted since the last take.
func (e *podEnds) take() []stintv1.PodResult {
	e.mu.Lock()
	defer e.mu.Unlock()
	seen := e.seen
	e.seen = nil
	return seen
}
