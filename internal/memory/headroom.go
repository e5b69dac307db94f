package memory

import "time"

const (
	// minHeadroom and the headroom of a busy process limit how much it may allocate until the next garbage collection. Both
	// grow with the live heap, as a collection takes time in proportion to it: a quiet process takes an eighth of its live
	// heap, and a busy one as much as its live heap and what Tune was given.
	minHeadroom = 8 << 20

	// ServerHeadroom is for a process that stores and serves objects, ControllerHeadroom for one that mostly waits for another.
	ServerHeadroom     = 24 << 20
	ControllerHeadroom = 4 << 20

	// At busyInterval between collections, a quarter of the time of a small process may go into them.
	busyInterval = time.Second
	calmInterval = 10 * time.Second
)

// nextHeadroom returns the headroom after a collection: twice as much while collections follow each other closely.
func nextHeadroom(headroom, live, busy int64, sincePrevious time.Duration) int64 {
	switch {
	case sincePrevious < busyInterval:
		headroom *= 2
	case sincePrevious > calmInterval:
		headroom /= 2
	}
	return min(max(headroom, minHeadroom, live/8), max(minHeadroom, busy+live))
}

// gcPercent returns the headroom in percent of the live heap, which is what the runtime can be set to.
func gcPercent(headroom, live int64) int {
	return int(headroom * 100 / max(live, minHeadroom))
}
