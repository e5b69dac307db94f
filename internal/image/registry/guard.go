package registry

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// guard ends a request that takes too long, so that no pull waits for ever. One limit holds for all of it: the login, redirects and the
// answer. The body of a layer alone may take any time, as long as bytes arrive.
type guard struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
	// what is requested; awaited is what the client waits for now.
	what    string
	awaited atomic.Pointer[awaited]
}

// awaited is what a client waits for: what was requested, or something that the login needs.
type awaited struct {
	what string
	// elsewhere is the host that was asked for it; empty if that is the one in the settings.
	elsewhere string
}

// guardKey is the key of a guard in a context, with which requests reach it through the library that logs in.
type guardKey struct{}

// tooLate is the cause with which a guard ends a request.
type tooLate struct{ err *Error }

// Error implements error.
func (t tooLate) Error() string { return t.err.Error() }

// guard returns a context that ends when the answer takes too long.
func (c *Client) guard(ctx context.Context, what string) (context.Context, *guard) {
	ctx, cancel := context.WithCancelCause(ctx)
	g := &guard{cancel: cancel, stall: c.config.Stall, what: what}
	g.awaited.Store(&awaited{what: what})
	limit := c.config.Answer
	g.timer = time.AfterFunc(limit, func() { cancel(tooLate{g.awaited.Load().missed(limit)}) })
	return context.WithValue(ctx, guardKey{}, g), g
}

// missed returns the Error of what has not arrived in time.
func (a *awaited) missed(limit time.Duration) *Error {
	e := &Error{Kind: ErrUnavailable, Temporary: true, Detail: fmt.Sprintf("%s did not arrive within %s", a.what, limit)}
	if a.elsewhere != "" {
		e.Detail, e.said = e.Detail+"; the host that was asked", a.elsewhere
	}
	return e
}

// awaits tells the guard of a request what the client waits for now; an empty text is what was requested in the first place.
func (d *endpoint) awaits(req *http.Request, what string) {
	g, guarded := req.Context().Value(guardKey{}).(*guard)
	if !guarded {
		return
	}
	if what == "" {
		what = g.what
	}
	now := &awaited{what: what}
	if req.URL.Host != d.host.Address {
		now.elsewhere = req.URL.Host
	}
	g.awaited.Store(now)
}

// watch returns the body of a layer, with a limit for each read only: a slow disk is not the fault of the registry.
func (g *guard) watch(body io.Reader) io.Reader {
	g.timer.Stop()
	stalled := tooLate{&Error{Kind: ErrUnavailable, Temporary: true, Detail: fmt.Sprintf("no data of the layer for %s", g.stall)}}
	g.timer = time.AfterFunc(g.stall, func() { g.cancel(stalled) })
	return &watched{Reader: body, guard: g}
}

func (g *guard) stop() {
	g.timer.Stop()
	g.cancel(nil)
}

// close closes the body of an answer, without waiting for the server.
func (g *guard) close(body io.Closer) {
	g.stop()
	_ = body.Close()
}

type watched struct {
	io.Reader
	guard *guard
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	w.guard.timer.Reset(w.guard.stall)
	defer w.guard.timer.Stop()
	return w.Reader.Read(p)
}
