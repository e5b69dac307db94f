package store

import "k8s.io/apimachinery/pkg/watch"

const (
	// historyEvents is how many events a watch cache keeps at least, however large they are.
	historyEvents = 100
	// worthForgetting is the size of a history that is worth an interruption of all watches.
	worthForgetting = 8 << 20
)

// replaced estimates the encoded size of what only the history of a watch cache keeps: the objects that its last events have
// replaced or deleted.
type replaced struct {
	sizes [historyEvents]int
	next  int
	bytes int
}

func (r *replaced) add(e watch.Event) {
	if e.Type == watch.Bookmark {
		return // It is not part of the history.
	}
	size := 0
	if e.Type == watch.Modified || e.Type == watch.Deleted {
		size = encodedSize(e.Object)
	}
	r.bytes += size - r.sizes[r.next]
	r.sizes[r.next] = size
	r.next = (r.next + 1) % historyEvents
}

// Forget makes the watch cache drop its history if that takes much memory.
func (s *Storage) Forget() {
	if s.feed != nil {
		s.feed.forget()
	}
}
