package podlogs

import (
	"container/heap"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// keptLog is the folder of a deleted pod.
type keptLog struct {
	folder string
	mark   mark
	bytes  int64
	// dropAfter gives those who read the log of a pod that was just deleted time to come to its end.
	dropAfter time.Time
	// place is where the heap has it.
	place int
}

// index finds kept logs by what may happen to them: their pods are deleted once more, their Jobs go, or they are too many.
type index struct {
	byFolder map[string]*keptLog
	ofJob    map[types.UID]map[*keptLog]bool
	oldest   keptHeap
	bytes    int64
}

func newIndex() index {
	return index{byFolder: map[string]*keptLog{}, ofJob: map[types.UID]map[*keptLog]bool{}}
}

// add counts a log, again where it is counted already: its pod may have printed more.
func (x *index) add(l *keptLog) {
	if before := x.byFolder[l.folder]; before != nil {
		x.remove(before)
	}
	x.byFolder[l.folder] = l
	if x.ofJob[l.mark.JobUID] == nil {
		x.ofJob[l.mark.JobUID] = map[*keptLog]bool{}
	}
	x.ofJob[l.mark.JobUID][l] = true
	heap.Push(&x.oldest, l)
	x.bytes += l.bytes
}

func (x *index) remove(l *keptLog) {
	delete(x.byFolder, l.folder)
	delete(x.ofJob[l.mark.JobUID], l)
	if len(x.ofJob[l.mark.JobUID]) == 0 {
		delete(x.ofJob, l.mark.JobUID)
	}
	heap.Remove(&x.oldest, l.place)
	x.bytes -= l.bytes
}

// keptHeap has the log of the pod that ended first at the top.
type keptHeap []*keptLog

func (h keptHeap) Len() int           { return len(h) }
func (h keptHeap) Less(i, j int) bool { return h[i].mark.Ended.Before(h[j].mark.Ended) }

func (h keptHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *keptHeap) Push(x any) {
	l := x.(*keptLog)
	l.place = len(*h)
	*h = append(*h, l)
}

// Pop implements heap.Interface.
func (h *keptHeap) Pop() any {
	last := len(*h) - 1
	l := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return l
}
