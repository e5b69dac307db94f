package run

import (
	"context"
	"errors"
	"time"

	"github.com/stint-dev/stint/internal/cli/target"
)

// errGone means that the server no longer listens.
var errGone = errors.New("the server has stopped")

// reconnect connects to the server that uses the data directory now. If the server was embedded in another run that has ended,
// this run starts one. A run that cannot start a server waits for one.
func (f *follower) reconnect(ctx context.Context) error {
	if f.mayStart {
		f.out.Note("the server has stopped: connecting to another one, or starting one")
	} else {
		f.out.Note("the server has stopped: waiting for it to start again")
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
