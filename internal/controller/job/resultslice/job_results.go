package resultslice

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// jobResults is the state that a Store keeps of one Job between syncs.
type jobResults struct {
	sequence sequence
	podEnds  podEnds
	// written are the pods whose end is stored and that may still have their finalizer: their results are not stored again.
	written sets.Set[types.UID]
}

// observeWrite adds the terminated pods of stored results to written. The result of a pod that still runs is stored again
// when it has terminated.
func (r *jobResults) observeWrite(all []stintv1.PodResult) {
	if r.written == nil {
		r.written = sets.New[types.UID]()
	}
	for i := range all {
		if all[i].FinishedAt != nil {
			r.written.Insert(all[i].UID)
		}
	}
}
