package remote_test

import (
	"context"
	"net/http"
	"strconv"
)

// requestNumber is the header that identifies a request of the client to the proxy.
const requestNumber = "Test-Request-Number"

// sent is the client's side of a request.
type sent struct {
	// giveUp ends the request in the client, as the client's own timeout would.
	giveUp context.CancelCauseFunc
	// answered is closed when the client has the headers of the response.
	answered chan struct{}
}

// numbering is a client's transport that numbers the requests, so that the proxy can end them in the client.
type numbering struct {
	proxy *proxy
	next  http.RoundTripper
}

func (n numbering) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, giveUp := context.WithCancelCause(r.Context())
	s := &sent{giveUp, make(chan struct{})}
	defer close(s.answered)
	r = r.Clone(ctx)
	n.proxy.mu.Lock()
	number := strconv.Itoa(len(n.proxy.sent))
	n.proxy.sent[number] = s
	n.proxy.mu.Unlock()
	r.Header.Set(requestNumber, number)
	return n.next.RoundTrip(r)
}

func (p *proxy) sender(r *http.Request) *sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent[r.Header.Get(requestNumber)]
}
