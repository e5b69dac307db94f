package store

import (
	"testing"
	"testing/synctest"
	"time"
)

// slowCache needs a given time to stop.
type slowCache struct{ takes time.Duration }

func (c slowCache) Stop() { time.Sleep(c.takes) }

func TestACacheThatDoesNotStopIsNotWaitedFor(t *testing.T) {
	for name, test := range map[string]struct{ takes, want time.Duration }{
		"one that stops is waited for":     {time.Second, time.Second},
		"one that does not is left behind": {time.Hour, stopTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				stop(slowCache{test.takes})
				if got := time.Since(start); got != test.want {
					t.Errorf("waited %s, want %s", got, test.want)
				}
				time.Sleep(test.takes) // synctest needs every goroutine to end
			})
		})
	}
}
