package registry

import (
	"context"
	"io"
	"time"
)

// guard ends a transfer that stands still, so that a pull does not wait for ever for a peer that is gone.
type guard struct {
	timer  *time.Timer
	cancel context.CancelCauseFunc
	after  time.Duration
}

// guard counts while something is read; getting an answer has limits of its own in the transport, and a slow disk is
// not the peer's fault.
func (c *Client) guard(ctx context.Context) (context.Context, *guard) {
	ctx, cancel := context.WithCancelCause(ctx)
	g := &guard{cancel: cancel, after: c.config.Stall}
	g.timer = time.AfterFunc(g.after, func() { cancel(errStalled) })
	g.timer.Stop()
	return ctx, g
}

// watch is r, each of whose reads must come in time.
func (g *guard) watch(r io.Reader) io.Reader { return &watched{Reader: r, guard: g} }

func (g *guard) stop() {
	g.timer.Stop()
	g.cancel(nil)
}

type watched struct {
	io.Reader
	guard *guard
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	w.guard.timer.Reset(w.guard.after)
	defer w.guard.timer.Stop()
	return w.Reader.Read(p)
}
