package scenario_test

import (
	"context"
	"sync"
	"testing"
	"time"
)

// tick is how often a lateness looks whether it comes in time.
const tick = 50 * time.Millisecond

// lateness is the longest that something of this process came too late: what a machine that stands still for a while adds
// to any delay.
type lateness struct {
	mu   sync.Mutex
	last time.Time
	most time.Duration
}

// startLateness watches until the test ends.
func startLateness(t *testing.T) *lateness {
	l := &lateness{last: time.Now()}
	ctx, stop := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				l.until(time.Now())
			case <-ctx.Done():
				return
			}
		}
	})
	t.Cleanup(func() { stop(); watching.Wait() })
	return l
}

// until is the lateness up to now, also of a tick that is late and still to come.
func (l *lateness) until(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.After(l.last) {
		l.most, l.last = max(l.most, now.Sub(l.last)-tick), now
	}
	return l.most
}

func TestLatenessIsTheLongestStall(t *testing.T) {
	at := time.Now()
	l := &lateness{last: at}
	for _, step := range []struct{ passes, most time.Duration }{
		{passes: tick},
		{passes: tick + time.Second, most: time.Second},
		{passes: tick, most: time.Second},
		{passes: tick + 5*time.Second, most: 5 * time.Second},
		{passes: tick + 3*time.Second, most: 5 * time.Second},
	} {
		at = at.Add(step.passes)
		if got := l.until(at); got != step.most {
			t.Errorf("after %v more it is %v, want %v", step.passes, got, step.most)
		}
	}
}
