package alarm

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// entry is a key that waits.
type entry struct {
	key types.NamespacedName
	// at has no reading of the monotonic clock: what counts is what the wall clock shows.
	at       time.Time
	position int
}

// queue is a heap of entries, the earliest first.
type queue []*entry

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].position, q[j].position = i, j
}

// Push and Pop are for container/heap.
func (q *queue) Push(x any) {
	e := x.(*entry)
	e.position = len(*q)
	*q = append(*q, e)
}

// Pop takes the last entry off.
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return e
}
