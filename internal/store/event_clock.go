package store

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

const (
	// historyBytes limits the encoded size of the events that the watch cache of a kind keeps. The cache keeps at least
	// 100 events, and as it doubles and halves its capacity it may keep four times this size.
	historyBytes = 128 << 10
	// unknownSize is the assumed size of an object that cannot tell its encoded size.
	unknownSize = 2 << 10
)

// eventClock gives the events of a watch cache their times. The cache keeps the events of the last 75 seconds, however
// large they are, and what came in a burst stays until other events come. So for the cache time passes faster when there
// are many bytes. Watches from older versions are served from the database: see history.
type eventClock struct {
	now, last time.Time
}

// next returns the time of an event that is received at this time.
func (c *eventClock) next(received time.Time, obj runtime.Object) time.Time {
	if c.now.IsZero() {
		c.now, c.last = received, received
	}
	passed := max(received.Sub(c.last), storagebackend.DefaultEventsHistoryWindow*time.Duration(encodedSize(obj))/historyBytes)
	c.now, c.last = c.now.Add(passed), received
	return c.now
}

func encodedSize(obj runtime.Object) int {
	if sized, ok := obj.(interface{ Size() int }); ok {
		return sized.Size()
	}
	return unknownSize
}
