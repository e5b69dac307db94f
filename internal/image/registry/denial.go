package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// isDenial reports whether a status is one of those that are told in Stint's own words: what servers say with it repeats
// the login more often than that it helps.
func isDenial(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// failed returns the Error of a request with the credential of that key that got no response.
func (d *endpoint) failed(ctx context.Context, key int, err error) *Error {
	var refused *transport.Error
	// The library turns a denial into an error only if it comes from a token server.
	if errors.As(err, &refused) && isDenial(refused.StatusCode) {
		return d.denied(refused.StatusCode, "the registry's token server", key, false)
	}
	return failed(ctx, err)
}

// deniedBy returns the Error of a response that denies access.
func (d *endpoint) deniedBy(resp *http.Response, key int) *Error {
	if at := resp.Request.URL.Host; at != d.host.Address {
		return &Error{Kind: ErrUnauthorized, said: at,
			Detail: fmt.Sprintf("%d: access is denied by the host to which the registry redirects", resp.StatusCode)}
	}
	accepted := resp.StatusCode == http.StatusForbidden || strings.HasPrefix(resp.Request.Header.Get("Authorization"), "Bearer ")
	return d.denied(resp.StatusCode, "the registry", key, accepted)
}

// denied returns the Error of a denial. accepted reports whether the login was right, as far as can be told.
func (d *endpoint) denied(status int, by string, key int, accepted bool) *Error {
	e := &Error{Kind: ErrUnauthorized}
	switch {
	case len(d.credentials) == 0:
		e.Detail = fmt.Sprintf("%d: %s wants a login, or there is no such repository; none was found for it: add one with docker login %s, "+
			"or an image pull secret", status, by, d.loginName())
	case accepted:
		e.Detail = fmt.Sprintf("%d: %s knows the login from %s, but it may not pull %s, or there is no such repository",
			status, by, d.credentials[key].From, d.reference.Repository)
	default:
		e.Detail = fmt.Sprintf("%d: %s refuses the login from %s: its user or password is wrong, or has expired; log in again, or "+
			"correct the image pull secret", status, by, d.credentials[key].From)
	}
	return e
}

// loginName is the name by which the user logs in to the host.
func (d *endpoint) loginName() string {
	if d.host.Mirror {
		return d.host.Address
	}
	return d.reference.Registry
}
