package registry

import (
	"context"
	"time"
)

const (
	// tries is how often in a row a request is tried without progress; maxTries bounds all tries.
	tries    = 4
	maxTries = 40

	firstPause = 500 * time.Millisecond
	maxPause   = 15 * time.Second
	// maxRetryAfter is the longest Retry-After to wait for; with a longer one the caller gets the error.
	maxRetryAfter = 2 * time.Minute
)

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// persist calls try until it succeeds, fails for good, or has failed too often in a row. If moved reports that a failed try
// got further than any before, counting begins again.
func (c *Client) persist(ctx context.Context, try func() error, moved func() bool) error {
	pause, failures := firstPause, 0
	for total := 1; ; total++ {
		err := try()
		if err == nil {
			return nil
		}
		passing, asked := retryable(err)
		failures++
		if moved() {
			pause, failures = firstPause, 1
		}
		if !passing || ctx.Err() != nil || failures >= tries || total >= maxTries || asked > maxRetryAfter {
			return err
		}
		if stop := c.config.Wait(ctx, max(pause, asked)); stop != nil {
			return err
		}
		pause = min(2*pause, maxPause)
	}
}

func never() bool { return false }
