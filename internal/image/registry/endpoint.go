package registry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/stint-dev/stint/internal/image/registry/credentials"
	"github.com/stint-dev/stint/internal/image/registry/hosts"
)

// endpoint is one host to fetch an image from, with the credentials that may be right for it.
type endpoint struct {
	host      hosts.Host
	reference Reference
	transport http.RoundTripper
	// credentials are tried in turn; without any, requests are anonymous. problem is the error of finding them. It matters only
	// if the host denies access.
	credentials []credentials.Credential
	problem     error

	mu sync.Mutex
	// key is the index of the credential that worked last; opened has the logged-in clients, by the index of their credential.
	key    int
	opened map[int]*http.Client
}

// get requests what, a path in the repository. The status of the response is 200, 206 or 416; the caller closes its body.
func (d *endpoint) get(ctx context.Context, what string, header http.Header) (*http.Response, error) {
	first := d.keyAt(-1)
	count := max(len(d.credentials), 1)
	var last *Error
	for i := range count {
		key := (first + i) % count
		resp, e := d.try(ctx, key, what, header)
		if e == nil {
			d.keyAt(key)
			return resp, nil
		}
		last = e
		// Some registries answer "not found" for what a credential may not see.
		if !errors.Is(e, ErrUnauthorized) && !errors.Is(e, ErrNotFound) {
			break
		}
	}
	return nil, d.explain(last)
}

// keyAt stores the index of the credential that worked, unless it is -1, and returns the stored one.
func (d *endpoint) keyAt(key int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if key >= 0 {
		d.key = key
	}
	return d.key
}

func (d *endpoint) try(ctx context.Context, key int, what string, header http.Header) (*http.Response, *Error) {
	client, e := d.client(ctx, key)
	if e != nil {
		return nil, d.redact(key, e)
	}
	url := d.host.URL(d.reference.Registry, d.reference.Repository, what)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, &Error{Kind: ErrSettings, Detail: "the host's address is not valid in a URL"}
	}
	req.Header = header.Clone()
	resp, err := client.Do(req)
	if err != nil {
		return nil, d.redact(key, failed(ctx, err))
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable:
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, d.redact(key, responseError(resp))
}

// client returns a client that is logged in with a credential. If two layers call it at the same time, both may log in, which
// does no harm.
func (d *endpoint) client(ctx context.Context, key int) (*http.Client, *Error) {
	d.mu.Lock()
	known := d.opened[key]
	d.mu.Unlock()
	if known != nil {
		return known, nil
	}
	registry, err := name.NewRegistry(d.host.Address)
	if err != nil {
		return nil, &Error{Kind: ErrSettings, Detail: "the host's address is not valid"}
	}
	auth := authn.Anonymous
	if len(d.credentials) > 0 {
		auth = d.credentials[key].Authenticator()
	}
	scopes := []string{"repository:" + d.reference.Repository + ":pull"}
	g := &authChallenge{host: d.host, inner: d.transport}
	t, err := transport.NewWithContext(ctx, registry, auth, g, scopes)
	if err != nil {
		e := failed(ctx, err)
		e.RetryAfter = time.Duration(g.retryAfter.Load())
		return nil, e
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened == nil {
		d.opened = map[int]*http.Client{}
	}
	d.opened[key] = &http.Client{Transport: t}
	return d.opened[key], nil
}

func (d *endpoint) redact(key int, e *Error) *Error {
	if key < len(d.credentials) {
		e.Detail = d.credentials[key].Redact(e.Detail)
	}
	return e
}

// explain adds to ErrUnauthorized which credentials were tried.
func (d *endpoint) explain(e *Error) *Error {
	if !errors.Is(e, ErrUnauthorized) {
		return e
	}
	switch {
	case len(d.credentials) == 0:
		e.Detail += "; no credentials were found for it, or there is no such repository"
	case len(d.credentials) == 1:
		e.Detail += "; tried with " + d.credentials[0].String()
	default:
		var from []string
		for _, c := range d.credentials {
			from = append(from, c.From)
		}
		e.Detail += "; tried with credentials from " + strings.Join(from, ", ")
	}
	if d.problem != nil {
		e.Detail += "; " + shorten(d.problem.Error())
	}
	return e
}

// authChallenge is the transport for logging in: the library requests /v2/ to find out how. authChallenge requests the host's
// own path instead. If the host has nothing there, like mirrors with override_path, no login is needed.
type authChallenge struct {
	host  hosts.Host
	inner http.RoundTripper
	// retryAfter is the last Retry-After of the host, in nanoseconds; the library's errors do not have it.
	retryAfter atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (g *authChallenge) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := g.send(req)
	if err == nil && resp.StatusCode == http.StatusTooManyRequests {
		g.retryAfter.Store(int64(retryAfter(resp.Header)))
	}
	return resp, err
}

func (g *authChallenge) send(req *http.Request) (*http.Response, error) {
	if req.URL.Host != g.host.Address || req.URL.Path != "/v2/" {
		return g.inner.RoundTrip(req)
	}
	out := req.Clone(req.Context())
	out.URL.Path = g.host.Path + "/"
	resp, err := g.inner.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		_ = resp.Body.Close()
		resp.StatusCode, resp.Body = http.StatusOK, io.NopCloser(strings.NewReader(""))
	}
	return resp, nil
}
