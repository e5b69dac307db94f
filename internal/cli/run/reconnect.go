package run

import (
	"context"
	"errors"
	"time"

	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/store"
)

var (
	// errGone means that the server no longer listens.
	errGone = errors.New("the server has stopped")
	// errMakeWay means that a stint server waits for the data directory that this run serves.
	errMakeWay = errors.New("a server is starting")
)

// makeWay stops the server in this process, so that a stint server takes over the Jobs and their pods, and connects to that. If that
// fails to start, this run goes on by itself.
func (f *follower) makeWay(ctx context.Context) error {
	f.out.Note("a stint server is starting on the data directory: it goes on with the jobs, and this command follows them")
	if err := f.disconnect(); err != nil {
		return err
	}
	if err := f.target.Close(); err != nil {
		return err
	}
	return f.connectAgain(ctx)
}

// reconnect connects to the server that uses the data directory now. If the server was embedded in another run that has ended,
// this run starts one. A run that cannot start a server, or that has been on a stint server, waits for one.
func (f *follower) reconnect(ctx context.Context) error {
	if f.mayStart() {
		f.out.Note("the server has stopped: connecting to another one, or starting one")
	} else {
		f.out.Note("the server has stopped: waiting for it to start again")
	}
	return f.connectAgain(ctx)
}

func (f *follower) mayStart() bool { return f.opts.Start != nil && !f.onServer }

func (f *follower) connectAgain(ctx context.Context) error {
	o := f.opts
	if !f.mayStart() {
		o.Start = nil
	}
	for {
		t, err := connect(ctx, o)
		switch {
		case err == nil:
			f.moved = true
			return f.use(t)
		case errors.Is(err, ErrInterrupted):
			f.stopper.leave()
			return err
		case !errors.Is(err, target.ErrNoServer), f.mayStart() && !store.HasServer(o.Target.DataDir):
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
