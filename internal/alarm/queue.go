package alarm

import (
	"time"
)

// entry is a key that waits.
type entry[K comparable] struct {
	key K
	// at has no reading of the monotonic clock: what counts is what the wall clock shows.
	at       time.Time
	position int
}

// queue is a heap of entries, the earliest first.
type queue[K comparable] []*entry[K]

func (q queue[K]) Len() int           { return len(q) }
func (q queue[K]) Less(i, j int) bool { return q[i].at.Before(q[j].at) }

func (q queue[K]) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].position, q[j].position = i, j
}

// Push and Pop are for container/heap.
func (q *queue[K]) Push(x any) {
	e := x.(*entry[K])
	e.position = len(*q)
	*q = append(*q, e)
}

// Pop takes the last entry off.
func (q *queue[K]) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return e
}
