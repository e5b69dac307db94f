package resources

import (
	"container/heap"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Queue assigns the machine's resources to pods. It is not safe for concurrent use.
type Queue struct {
	all  Request
	free Request
	held map[types.UID]Request
	// classes are the waiting pods by what they request: of pods with the same request only the oldest is checked.
	classes map[Request]*class
	pods    map[types.UID]*waiter
	arrival int64
}

type waiter struct {
	uid     types.UID
	request Request
	created time.Time
	// arrival orders pods that were created in the same second.
	arrival int64
	index   int
}

// NewQueue returns a queue for a machine without pods.
func NewQueue(all Request) *Queue {
	return &Queue{
		all:     all,
		free:    all,
		held:    map[types.UID]Request{},
		classes: map[Request]*class{},
		pods:    map[types.UID]*waiter{},
	}
}

// Reserve reserves the pod's request even if that much is not free, as for a pod that runs already.
func (q *Queue) Reserve(uid types.UID, r Request) {
	if _, ok := q.held[uid]; ok {
		return
	}
	q.dequeue(uid)
	q.held[uid] = r
	q.free = q.free.minus(r)
}

// Wait adds the pod to those that wait for resources, unless it waits or has them already.
func (q *Queue) Wait(uid types.UID, r Request, created time.Time) {
	if _, ok := q.held[uid]; ok {
		return
	}
	if _, ok := q.pods[uid]; ok {
		return
	}
	q.arrival++
	w := &waiter{uid: uid, request: r, created: created, arrival: q.arrival}
	q.pods[uid] = w
	c, ok := q.classes[r]
	if !ok {
		c = &class{}
		q.classes[r] = c
	}
	heap.Push(c, w)
}

// Release removes the pod, whether it waits or has resources.
func (q *Queue) Release(uid types.UID) {
	q.dequeue(uid)
	if r, ok := q.held[uid]; ok {
		delete(q.held, uid)
		q.free = q.free.plus(r)
	}
}

// AdmitWaiting reserves resources for waiting pods while there are enough, and returns these pods.
func (q *Queue) AdmitWaiting() []types.UID {
	var admitted []types.UID
	heads := q.oldestOfEachClass()
	var scarce []corev1.ResourceName
	for len(heads) > 0 && !slices.Contains(scarce, corev1.ResourcePods) {
		oldest := heads[0]
		heads = heads[1:]
		r := oldest.request
		if len(r.short(q.all)) > 0 {
			continue
		}
		if short := r.short(q.free); len(short) > 0 {
			scarce = append(scarce, short...)
			continue
		}
		if wantsAny(r, scarce) {
			continue
		}
		q.Reserve(oldest.uid, r)
		admitted = append(admitted, oldest.uid)
		if c, ok := q.classes[r]; ok {
			heads = insert(heads, (*c)[0])
		}
	}
	return admitted
}

// HasReserved reports whether the pod has its resources.
func (q *Queue) HasReserved(uid types.UID) bool {
	_, ok := q.held[uid]
	return ok
}

// Explain returns a message about what a pod waits for; empty if it does not wait.
func (q *Queue) Explain(uid types.UID) string {
	w, ok := q.pods[uid]
	if !ok {
		return ""
	}
	return explain(w.request, q.free, q.all)
}

// Fits reports whether a waiting pod could start if no other pod had resources.
func (q *Queue) Fits(uid types.UID) bool {
	w, ok := q.pods[uid]
	return !ok || len(w.request.short(q.all)) == 0
}

func (q *Queue) dequeue(uid types.UID) {
	w, ok := q.pods[uid]
	if !ok {
		return
	}
	delete(q.pods, uid)
	c := q.classes[w.request]
	heap.Remove(c, w.index)
	if c.Len() == 0 {
		delete(q.classes, w.request)
	}
}

// oldestOfEachClass returns the oldest pod of each class, oldest first.
func (q *Queue) oldestOfEachClass() []*waiter {
	heads := make([]*waiter, 0, len(q.classes))
	for _, c := range q.classes {
		heads = append(heads, (*c)[0])
	}
	slices.SortFunc(heads, compare)
	return heads
}

func insert(sorted []*waiter, w *waiter) []*waiter {
	at, _ := slices.BinarySearchFunc(sorted, w, compare)
	return slices.Insert(sorted, at, w)
}

func wantsAny(r Request, scarce []corev1.ResourceName) bool {
	for _, kind := range scarce {
		if r.of(kind) > 0 {
			return true
		}
	}
	return false
}
