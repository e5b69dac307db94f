package registry

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
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
	transport *hosts.Transport
	// credentials are tried in turn; without any, requests are anonymous. problem is the error of finding them. It matters only
	// if the host denies access.
	credentials []credentials.Credential
	problem     error
	// secrets are those of the source.
	secrets *credentials.Secrets

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
		return nil, e
	}
	url := d.host.URL(d.reference.Registry, d.reference.Repository, what)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, &Error{Kind: ErrSettings, Detail: "the host's address is not valid in a URL"}
	}
	req.Header = header.Clone()
	resp, err := client.Do(req)
	if err != nil {
		return nil, d.failed(ctx, key, err)
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable:
		return resp, nil
	}
	defer resp.Body.Close()
	if isDenial(resp.StatusCode) {
		return nil, d.deniedBy(resp, key)
	}
	return nil, responseError(resp)
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
	g := newAuthChallenge(d)
	t, err := transport.NewWithContext(ctx, registry, auth, g, scopes)
	if err != nil {
		e := d.failed(ctx, key, err)
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

// explain adds to ErrUnauthorized which other logins were tried, and why one could not be.
func (d *endpoint) explain(e *Error) *Error {
	if !errors.Is(e, ErrUnauthorized) {
		return e
	}
	if len(d.credentials) > 1 {
		var from []string
		for _, c := range d.credentials {
			from = append(from, c.From)
		}
		e.Detail += "; tried were the logins from " + strings.Join(from, ", ")
	}
	if d.problem != nil {
		e.Detail += "; " + shorten(d.problem.Error())
	}
	return e
}
