package run

import (
	"context"
	"errors"
	"time"

	"github.com/stint-dev/stint/internal/cli/target"
)

// errGone says that nothing listens where the server was.
var errGone = errors.New("the server has gone")

// reconnect goes on with whatever serves the data directory now: the run that had its server inside it may have
// ended, and then the server is up to this one. One that cannot start a server waits for it.
func (f *follower) reconnect(ctx context.Context) error {
	if f.mayStart {
		f.out.Note("the server has gone: looking for another, or going on without")
	} else {
		f.out.Note("the server has gone: waiting for it to come back")
	}
	for {
		t, err := f.connect(ctx)
		switch {
		case err == nil:
			f.moved = true
			return f.use(t)
		case errors.Is(err, ErrInterrupted):
			f.stopper.leave()
			return err
		case f.mayStart || !errors.Is(err, target.ErrNoServer):
			return err
		}
		select {
		case <-f.interrupts:
			f.stopper.leave()
			return ErrInterrupted
		case <-time.After(tick):
		}
	}
}
