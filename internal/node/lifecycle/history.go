package lifecycle

import (
	"cmp"
	"time"

	"github.com/stint-dev/stint/internal/node/probe"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// Hook is where a lifecycle hook of an attempt stands.
type Hook string

// A hook is Idle if there is none, or before it runs. A postStart hook that has succeeded is Idle again.
const (
	HookIdle   Hook = ""
	HookRuns   Hook = "runs"
	HookEnded  Hook = "ended"
	HookFailed Hook = "failed"
)

// History is what is known of the attempts at one container.
type History struct {
	// Last is the newest attempt; nil before the first start.
	Last *runtime.Status
	// Previous is the attempt before Last, where it is still known.
	Previous *runtime.Status
	// CrashCount counts the restarts since the container last ran for forgetCrashesAfter.
	CrashCount int32
	// Probes are those of the newest attempt; nil if its container has none.
	Probes *probe.Attempt
	// PostStart is the hook of the newest attempt: HookIdle, HookRuns or HookFailed.
	PostStart Hook
	// StopBy is when the running attempt will have been killed; zero if it was not told to stop.
	StopBy time.Time
	// ToldAt is when the attempt was first told to stop, or its preStop hook began; zero if neither.
	ToldAt time.Time
	// PreStop is the hook that is run before the running attempt is told to stop: HookIdle, HookRuns, or HookEnded until it
	// is told. While it runs, StopBy is when the grace period is over.
	PreStop Hook
}

// Add observes the status of one attempt. Statuses may come in any order. An attempt that follows because all containers
// of the pod were to restart does not count as a crash.
func (h *History) Add(s runtime.Status, restartAll time.Time) {
	switch {
	case h.Last == nil:
		h.Last, h.CrashCount = &s, s.Attempt
	case s.Attempt > h.Last.Attempt:
		if restartAll.IsZero() || h.Last.StartedAt.After(restartAll) {
			h.CrashCount = nextCrashCount(h.Last, h.CrashCount, s.Attempt)
		}
		*h = History{Previous: h.Last, Last: &s, CrashCount: h.CrashCount}
	case s.Attempt == h.Last.Attempt:
		if h.Last.State == runtime.Running {
			s.LostOutput = cmp.Or(s.LostOutput, h.Last.LostOutput)
			h.Last = &s
		}
	case h.Previous == nil || s.Attempt >= h.Previous.Attempt:
		h.Previous = &s
	}
}

// Told observes that a decision to stop the running attempt was carried out, which began at a time.
func (h *History) Told(s Stop, began time.Time) {
	if h.ToldAt.IsZero() {
		h.ToldAt = began
	}
	h.StopBy = began.Add(s.Grace)
	switch {
	case !s.PreStop:
		h.PreStop = HookIdle
	case h.PreStop == HookIdle:
		h.PreStop = HookRuns
	}
}

// Running reports whether the newest attempt has a live process.
func (h History) Running() bool { return h.Last != nil && h.Last.State == runtime.Running }

// Exited reports whether the newest attempt has exited.
func (h History) Exited() bool { return h.Last != nil && h.Last.State == runtime.Exited }

// wasStopped reports whether the exited attempt was told to stop before it exited. One that exits by itself may be told too
// before that is known.
func (h History) wasStopped() bool {
	return !h.ToldAt.IsZero() && !h.Last.FinishedAt.Before(h.ToldAt)
}

// next returns the number of the next attempt.
func (h History) next() int32 {
	if h.Last == nil {
		return 0
	}
	return h.Last.Attempt + 1
}
