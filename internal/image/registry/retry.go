package registry

import (
	"context"
	"time"
)

const (
	// tries is how often in a row a request is made that gets nowhere; mostTries bounds those that get on a little.
	tries     = 4
	mostTries = 40

	firstPause = 500 * time.Millisecond
	mostPause  = 15 * time.Second
	// mostAsked is how long a registry may ask us to wait; beyond, the caller is told and may do something else.
	mostAsked = 2 * time.Minute
)

// wait is the ordinary pause.
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

// persist calls try until it succeeds or fails for good. So long as moved reports that a failed try got further than
// any before, failures do not count up to the usual few.
func (c *Client) persist(ctx context.Context, try func() error, moved func() bool) error {
	pause, failures := firstPause, 0
	for total := 1; ; total++ {
		err := try()
		if err == nil {
			return nil
		}
		passing, asked := passes(err)
		failures++
		if moved() {
			pause, failures = firstPause, 1
		}
		if !passing || ctx.Err() != nil || failures >= tries || total >= mostTries || asked > mostAsked {
			return err
		}
		if stop := c.config.Wait(ctx, max(pause, asked)); stop != nil {
			return err
		}
		pause = min(2*pause, mostPause)
	}
}

func never() bool { return false }
