package node_test

import (
	"testing"

	"github.com/stint-dev/stint/internal/node"
)

// The alarm wakes a pod when the wall clock shows its time, so the node has to compare what the wall clock shows too: times that
// carry a reading of the monotonic clock, which stands still while the machine sleeps, are compared by that, and a pod whose time
// has come by one clock and not by the other would be woken and put off without a pause.
func TestTheNodeDecidesByTheClockOfItsAlarm(t *testing.T) {
	if now := node.Now(); now != now.Round(0) {
		t.Errorf("%v carries a reading of the monotonic clock", now)
	}
}
