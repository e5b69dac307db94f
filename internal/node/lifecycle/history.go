package lifecycle

import (
	"time"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// History is what is known of the attempts at one container.
type History struct {
	// Last is the newest attempt; nil before the first start.
	Last *runtime.Status
	// Previous is the attempt before Last, where it is still known.
	Previous *runtime.Status
	// CrashCount counts the restarts since the container last ran for forgetCrashesAfter.
	CrashCount int32
	// StopBy is when the running attempt will have been killed; zero if it was not told to stop.
	StopBy time.Time
}

// Add observes the status of one attempt. Statuses may come in any order.
func (h *History) Add(s runtime.Status) {
	switch {
	case h.Last == nil:
		h.Last, h.CrashCount = &s, s.Attempt
	case s.Attempt > h.Last.Attempt:
		h.CrashCount = nextCrashCount(h.Last, h.CrashCount, s.Attempt)
		h.Previous, h.Last, h.StopBy = h.Last, &s, time.Time{}
	case s.Attempt == h.Last.Attempt:
		if h.Last.State == runtime.Running {
			h.Last = &s
		}
	case h.Previous == nil || s.Attempt >= h.Previous.Attempt:
		h.Previous = &s
	}
}

// Running reports whether the newest attempt has a live process.
func (h History) Running() bool { return h.Last != nil && h.Last.State == runtime.Running }

// Exited reports whether the newest attempt has exited.
func (h History) Exited() bool { return h.Last != nil && h.Last.State == runtime.Exited }

// next returns the number of the next attempt.
func (h History) next() int32 {
	if h.Last == nil {
		return 0
	}
	return h.Last.Attempt + 1
}
