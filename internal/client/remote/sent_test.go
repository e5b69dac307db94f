package remote_test

import (
	"context"
	"net/http"
	"strconv"
)

// requestNumber is the header by which the proxy knows which of the client's requests it sees.
const requestNumber = "Test-Request-Number"

// sent is a request as its client sees it.
type sent struct {
	// giveUp ends it in the client, as the client's own limit does.
	giveUp context.CancelCauseFunc
	// answered is closed when the client has the head of the answer.
	answered chan struct{}
}

// numbering is the transport of a client that the proxy can have give up.
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
