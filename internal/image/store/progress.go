package store

import (
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Progress is how many bytes have been read of the layers that the store lacks, and how many these layers have.
type Progress struct{ Done, Total int64 }

// sizeCounter adds up the progress of the layers of an image, which are read at the same time.
type sizeCounter struct {
	mu     sync.Mutex
	layers map[v1.Hash]int64
	sum    Progress
	report func(Progress)
}

func newSizeCounter(missing map[v1.Hash]Layer, report func(Progress)) *sizeCounter {
	t := &sizeCounter{layers: map[v1.Hash]int64{}, report: report}
	for _, l := range missing {
		t.sum.Total = sum(t.sum.Total, l.Size)
	}
	return t
}

// done returns how many bytes of a layer have been read.
func (t *sizeCounter) done(layer v1.Hash) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.layers[layer]
}

// of returns a function that takes in how many bytes of one layer have been read.
func (t *sizeCounter) of(layer v1.Hash) func(done int64) {
	return func(done int64) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.sum.Done += done - t.layers[layer]
		t.layers[layer] = done
		if t.report != nil {
			t.report(t.sum)
		}
	}
}
