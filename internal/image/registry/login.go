package registry

import (
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"

	"github.com/stint-dev/stint/internal/image/registry/hosts"
)

// authChallenge is the transport below that of the library, which logs in. For that the library requests /v2/ to find out how;
// authChallenge requests the host's own path instead. If the host has nothing there, like mirrors with override_path, no login is
// needed.
//
// A registry may name another host as its token server, which then gets the login. authChallenge sends it there only
//   - over HTTPS, unless the registry itself is reached by plain HTTP,
//   - to a public address, unless the registry itself has answered from one that is not,
//   - and not on to yet another host to which the token server redirects.
type authChallenge struct {
	*endpoint
	// tokens is the transport to token servers.
	tokens http.RoundTripper
	// private reports whether the registry has answered from an address that is not public. Behind a proxy that is not known.
	private atomic.Bool
	// retryAfter is the last Retry-After of the host, in nanoseconds; the library's errors do not have it.
	retryAfter atomic.Int64
}

func newAuthChallenge(d *endpoint) *authChallenge {
	g := &authChallenge{endpoint: d}
	g.tokens = d.transport.Checked(func(a netip.Addr) error {
		if !hosts.Public(a) && !g.private.Load() {
			return privateTokenServer()
		}
		return nil
	})
	return g
}

// RoundTrip implements http.RoundTripper. Each request of a pull passes here: those of the library, and those to which they are
// redirected.
func (g *authChallenge) RoundTrip(req *http.Request) (*http.Response, error) {
	g.secrets.AddRequest(req)
	resp, err := g.send(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusTooManyRequests {
		g.retryAfter.Store(int64(retryAfter(resp.Header)))
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPartialContent {
		cutBody(resp)
	}
	return resp, nil
}

// maxErrorBody bounds what is read of the body of a response without content: of an error, a redirect, a ping.
const maxErrorBody = 64 << 10

// cutBody leaves only the beginning of a body to be read.
func cutBody(resp *http.Response) {
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxErrorBody), resp.Body}
}

func (g *authChallenge) send(req *http.Request) (*http.Response, error) {
	first := firstOf(req)
	g.awaits(req, g.askedFor(first))
	switch {
	case req.Body != nil && req.URL.Host != first.URL.Host:
		return nil, &Error{Kind: ErrBadAnswer, Detail: "the token server redirects the login to another host"}
	case g.isOwn(req) && req.URL.Path == "/v2/":
		return g.ping(req)
	case g.isOwn(req), g.isOwn(first) && g.isOrdinary(first.URL.Path):
		return g.transport.RoundTrip(req)
	}
	return g.askTokenServer(req)
}

// askedFor says what a request asks for; empty if that is what the pull itself has requested.
func (g *authChallenge) askedFor(req *http.Request) string {
	switch path := req.URL.Path; {
	case g.isOwn(req) && path == "/v2/":
		return "the answer to /v2/"
	case g.isOwn(req) && g.isOrdinary(path):
		return ""
	}
	return "the token"
}

// firstOf returns the request that has led to req by redirects.
func firstOf(req *http.Request) *http.Request {
	for req.Response != nil && req.Response.Request != nil {
		req = req.Response.Request
	}
	return req
}

func (g *authChallenge) isOwn(req *http.Request) bool { return req.URL.Host == g.host.Address }

// isOrdinary reports whether a path is one that Stint requests itself, and not that of a token server.
func (g *authChallenge) isOrdinary(path string) bool {
	return path == g.host.Path+"/" || strings.HasPrefix(path, g.host.Path+"/"+g.reference.Repository+"/")
}

func (g *authChallenge) ping(req *http.Request) (*http.Response, error) {
	var from netip.Addr
	out := g.transport.Tracing(req.Clone(req.Context()), func(a netip.Addr) { from = a })
	out.URL.Path = g.host.Path + "/"
	resp, err := g.transport.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	cutBody(resp)
	g.private.Store(from.IsValid() && !hosts.Public(from))
	switch resp.StatusCode {
	case http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		_ = resp.Body.Close()
		resp.StatusCode, resp.Body = http.StatusOK, io.NopCloser(strings.NewReader(""))
	}
	return resp, nil
}

func (g *authChallenge) askTokenServer(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" && !g.transport.Plain() {
		return nil, plainTokenServer()
	}
	return g.tokens.RoundTrip(req)
}

func privateTokenServer() *Error {
	return &Error{Kind: ErrBadAnswer, Detail: "the registry names a token server on a private address, which gets no login from a " +
		"registry on a public one"}
}

// tokenServerByIP is for what the library refuses, whatever the address of the registry is.
func tokenServerByIP() *Error {
	return &Error{Kind: ErrBadAnswer, Detail: "the registry names its token server by a private IP address that is not the registry's own, " +
		"which is not supported; on a private network, a host name works"}
}

func plainTokenServer() *Error {
	return &Error{Kind: ErrBadAnswer, Detail: "the registry names a token server without HTTPS, which gets no login"}
}
