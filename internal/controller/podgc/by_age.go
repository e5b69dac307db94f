package podgc

import (
	"container/heap"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// byAge holds terminated pods. Each operation takes logarithmic time.
type byAge struct {
	heap  ageHeap
	known map[types.UID]*aged
}

// aged is a pod and its place in the heap.
type aged struct {
	pod   *corev1.Pod
	place int
}

func newByAge() *byAge { return &byAge{known: map[types.UID]*aged{}} }

// put adds a pod or replaces the version that is held.
func (b *byAge) put(p *corev1.Pod) {
	if a := b.known[p.UID]; a != nil {
		a.pod = p
		heap.Fix(&b.heap, a.place)
		return
	}
	a := &aged{pod: p}
	b.known[p.UID] = a
	heap.Push(&b.heap, a)
}

func (b *byAge) remove(uid types.UID) {
	if a := b.known[uid]; a != nil {
		heap.Remove(&b.heap, a.place)
		delete(b.known, uid)
	}
}

// takeBeyond takes out the oldest pods until no more than n are left.
func (b *byAge) takeBeyond(n int) (oldest []*corev1.Pod) {
	for len(b.heap) > n {
		a := heap.Pop(&b.heap).(*aged)
		delete(b.known, a.pod.UID)
		oldest = append(oldest, a.pod)
	}
	return oldest
}

// ageHeap implements heap.Interface.
type ageHeap []*aged

func (h ageHeap) Len() int { return len(h) }

func (h ageHeap) Less(i, j int) bool { return older(h[i].pod, h[j].pod) < 0 }

func (h ageHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *ageHeap) Push(x any) {
	a := x.(*aged)
	a.place = len(*h)
	*h = append(*h, a)
}

func (h *ageHeap) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return a
}
