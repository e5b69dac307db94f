package node

import (
	"container/heap"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"
)

// block is what the smallest file or folder takes on most disks. Counting in blocks bounds the number of files too.
const block = 4 << 10

// keptLog is the folder of a deleted pod.
type keptLog struct {
	folder string
	mark   keepMark
	bytes  int64
	// dropAfter lets whoever reads the log of a pod that was just deleted come to its end.
	dropAfter time.Time
	// place is where the heap has it.
	place int
}

// add counts a log, again where it is counted already: its pod may have printed more.
func (k *keeper) add(l *keptLog) {
	if before := k.kept[l.folder]; before != nil {
		k.remove(before)
	}
	k.kept[l.folder] = l
	if k.ofJob[l.mark.JobUID] == nil {
		k.ofJob[l.mark.JobUID] = map[*keptLog]bool{}
	}
	k.ofJob[l.mark.JobUID][l] = true
	heap.Push(&k.oldest, l)
	k.bytes += l.bytes
}

func (k *keeper) remove(l *keptLog) {
	delete(k.kept, l.folder)
	delete(k.ofJob[l.mark.JobUID], l)
	if len(k.ofJob[l.mark.JobUID]) == 0 {
		delete(k.ofJob, l.mark.JobUID)
	}
	heap.Remove(&k.oldest, l.place)
	k.bytes -= l.bytes
}

// trim drops the logs of the pods that ended first until the others fit. Before all are counted it cannot tell which
// those are.
func (k *keeper) trim() {
	if k.frozen || !k.counted {
		return
	}
	var until time.Time
	for k.bytes > k.limit {
		l := k.oldest[0]
		k.remove(l)
		k.drop(rubbish{logsDir, l.folder, l.dropAfter})
		until = l.mark.Ended
	}
	if until.After(k.dropped) {
		k.dropUntil(until)
	}
}

// open notes whether logs are kept from now on. See dropped.
func (k *keeper) open() {
	if k.frozen {
		return
	}
	k.dropped = readDropped(k.dir)
	switch {
	case k.limit == 0 && !k.dropped.Equal(noneKept):
		k.dropUntil(noneKept)
	case k.limit > 0 && k.dropped.Equal(noneKept):
		k.dropUntil(now())
	}
}

func (k *keeper) dropUntil(t time.Time) {
	k.dropped = t
	if err := writeDropped(k.dir, t); err != nil {
		slog.Warn("note that logs were dropped", "error", err)
	}
}

// measure returns what a pod's folder takes.
func measure(dir string) (int64, error) {
	bytes := int64(block) // the mark
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		size := info.Size()
		if e.IsDir() {
			size = block
		}
		if e.Name() != markName {
			bytes += (size + block - 1) / block * block
		}
		return nil
	})
	return bytes, err
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
