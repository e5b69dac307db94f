package node

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// alarms wakes pods at set times. A pod has one alarm at most.
type alarms struct {
	ring func(types.UID)

	mu      sync.Mutex
	byPod   map[types.UID]*alarm
	queue   alarmHeap
	changed chan struct{}
}

type alarm struct {
	uid   types.UID
	at    time.Time
	index int
}

func newAlarms(ring func(types.UID)) *alarms {
	return &alarms{ring: ring, byPod: map[types.UID]*alarm{}, changed: make(chan struct{}, 1)}
}

// set replaces the pod's alarm; a zero time clears it.
func (a *alarms) set(uid types.UID, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if old, ok := a.byPod[uid]; ok {
		if old.at.Equal(at) {
			return
		}
		heap.Remove(&a.queue, old.index)
		delete(a.byPod, uid)
	}
	if at.IsZero() {
		return
	}
	entry := &alarm{uid: uid, at: at}
	a.byPod[uid] = entry
	heap.Push(&a.queue, entry)
	if entry.index == 0 {
		select {
		case a.changed <- struct{}{}:
		default:
		}
	}
}

// run rings until ctx ends.
func (a *alarms) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		due, next := a.takeDue(time.Now())
		for _, uid := range due {
			a.ring(uid)
		}
		if next.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(time.Until(next))
		}
		select {
		case <-ctx.Done():
			return
		case <-a.changed:
		case <-timer.C:
		}
	}
}

// takeDue removes what is due and tells when the next is; zero is never.
func (a *alarms) takeDue(now time.Time) (due []types.UID, next time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) > 0 {
		first := a.queue[0]
		if first.at.After(now) {
			return due, first.at
		}
		heap.Pop(&a.queue)
		delete(a.byPod, first.uid)
		due = append(due, first.uid)
	}
	return due, time.Time{}
}

type alarmHeap []*alarm

func (h alarmHeap) Len() int           { return len(h) }
func (h alarmHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h alarmHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push is for container/heap.
func (h *alarmHeap) Push(x any) {
	entry := x.(*alarm)
	entry.index = len(*h)
	*h = append(*h, entry)
}

// Pop is for container/heap.
func (h *alarmHeap) Pop() any {
	last := len(*h) - 1
	entry := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return entry
}
