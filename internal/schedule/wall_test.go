package schedule

import (
	"math"
	"testing"
	"time"
)

// Spans cover all time: none is empty, and the offset of each is right to its last second.
func TestSpansLeadThroughAllTime(t *testing.T) {
	for _, name := range zones {
		z := zone(t, name)
		for at := time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC).Unix(); at < lastSecond; {
			s := spanAt(z, at)
			if s.end <= at {
				t.Fatalf("%s: the span at %v ends at %v", name, instant(at), instant(s.end))
			}
			if s.end == math.MaxInt64 {
				break
			}
			if _, offset := time.Unix(s.end-1, 0).In(z).Zone(); int64(offset) != s.offset {
				t.Fatalf("%s: the offset of %v is not that of %v", name, instant(at), instant(s.end-1))
			}
			at = s.end
		}
	}
}
