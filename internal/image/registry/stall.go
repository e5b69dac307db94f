package registry

import (
	"context"
	"io"
	"time"
)

// guard cancels a transfer that gets no data, so that a pull does not wait for ever.
type guard struct {
	timer  *time.Timer
	cancel context.CancelCauseFunc
	after  time.Duration
}

// guard returns a context that the guard cancels. Only the time of each read counts: waiting for a response has timeouts of
// its own in the transport, and a slow disk is not the fault of the registry.
func (c *Client) guard(ctx context.Context) (context.Context, *guard) {
	ctx, cancel := context.WithCancelCause(ctx)
	g := &guard{cancel: cancel, after: c.config.Stall}
	g.timer = time.AfterFunc(g.after, func() { cancel(errStalled) })
	g.timer.Stop()
	return ctx, g
}

// watch returns r with the guard's timeout for each read.
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
