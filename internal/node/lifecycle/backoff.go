package lifecycle

import (
	"time"

	"github.com/stint-dev/stint/internal/node/runtime"
)

const (
	firstBackOff = 10 * time.Second
	maxBackOff   = 300 * time.Second
	// forgetCrashesAfter is how long a container must run for its earlier crashes not to count any more.
	forgetCrashesAfter = 600 * time.Second
)

// backOff is the delay from the end of the newest attempt to the next one.
func (h History) backOff() time.Duration {
	if h.CrashCount == 0 || ranLong(h.Last) {
		return 0
	}
	delay := firstBackOff
	for i := int32(1); i < h.CrashCount && delay < maxBackOff; i++ {
		delay *= 2
	}
	return min(delay, maxBackOff)
}

func ranLong(s *runtime.Status) bool {
	return s.FinishedAt.Sub(s.StartedAt) >= forgetCrashesAfter
}

// nextCrashCount returns the crash count once attempt has followed last. Attempts that are missing between the two are
// not known and count as crashes.
func nextCrashCount(last *runtime.Status, count, attempt int32) int32 {
	if last.State == runtime.Exited && ranLong(last) {
		return attempt - last.Attempt
	}
	return count + attempt - last.Attempt
}
