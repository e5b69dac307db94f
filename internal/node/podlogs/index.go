package podlogs

import (
	"container/heap"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// retainedLog is the log folder of a deleted pod.
type retainedLog struct {
	folder string
	owner  logOwner
	bytes  int64
	// dropAfter is when the log may be removed: clients that read the log of a pod that was just deleted have time to
	// reach its end.
	dropAfter time.Time
	// place is the position in the heap.
	place int
}

// index finds retained logs by their folder, their Job and their age. They are needed when a pod is deleted once more,
// when its Job is deleted, and when there are too many logs.
type index struct {
	byFolder map[string]*retainedLog
	ofJob    map[types.UID]map[*retainedLog]bool
	oldest   retainedHeap
	bytes    int64
}

func newIndex() index {
	return index{byFolder: map[string]*retainedLog{}, ofJob: map[types.UID]map[*retainedLog]bool{}}
}

// add counts a log. If it is counted already it is counted anew, as its pod may have printed more.
func (x *index) add(l *retainedLog) {
	if before := x.byFolder[l.folder]; before != nil {
		x.remove(before)
	}
	x.byFolder[l.folder] = l
	if x.ofJob[l.owner.JobUID] == nil {
		x.ofJob[l.owner.JobUID] = map[*retainedLog]bool{}
	}
	x.ofJob[l.owner.JobUID][l] = true
	heap.Push(&x.oldest, l)
	x.bytes += l.bytes
}

func (x *index) remove(l *retainedLog) {
	delete(x.byFolder, l.folder)
	delete(x.ofJob[l.owner.JobUID], l)
	if len(x.ofJob[l.owner.JobUID]) == 0 {
		delete(x.ofJob, l.owner.JobUID)
	}
	heap.Remove(&x.oldest, l.place)
	x.bytes -= l.bytes
}

// retainedHeap has the log of the pod that terminated first at the top.
type retainedHeap []*retainedLog

func (h retainedHeap) Len() int           { return len(h) }
func (h retainedHeap) Less(i, j int) bool { return h[i].owner.Ended.Before(h[j].owner.Ended) }

func (h retainedHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *retainedHeap) Push(x any) {
	l := x.(*retainedLog)
	l.place = len(*h)
	*h = append(*h, l)
}

// Pop implements heap.Interface.
func (h *retainedHeap) Pop() any {
	last := len(*h) - 1
	l := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return l
}
