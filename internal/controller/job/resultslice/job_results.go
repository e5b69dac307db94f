package resultslice

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// jobResults is what is known of one Job's results.
type jobResults struct {
	sequence sequence
	podEnds  podEnds
	// written are pods whose end is stored and that may still have their finalizer: it is not stored again.
	written sets.Set[types.UID]
}

// observeWrite notes the pods of which it is known when they ended: of others there may be more to store.
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
