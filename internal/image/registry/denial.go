package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// isDenial reports whether a status is one of those that are told in Stint's own words: what servers say about a login that they
// have got repeats it more often than that it helps.
func isDenial(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// failed returns the Error of a request with the credential of that key that got no response.
func (d *endpoint) failed(ctx context.Context, key int, err error) *Error {
	var refused *transport.Error
	// The library turns a denial into an error only if it comes from a token server, which gets each login that can be sent.
	if errors.As(err, &refused) && isDenial(refused.StatusCode) {
		n := denial{status: refused.StatusCode, by: "the registry's token server", key: key, sent: true}
		if len(refused.Errors) > 0 {
			n.said = refused.Errors[0].Message
		}
		return d.denied(n)
	}
	return failed(ctx, err)
}

// deniedBy returns the Error of a response that denies access.
func (d *endpoint) deniedBy(resp *http.Response, key int) *Error {
	if at := resp.Request.URL.Host; at != d.host.Address {
		return &Error{Kind: ErrUnauthorized, said: at,
			Detail: fmt.Sprintf("%d: access is denied by the host to which the registry redirects", resp.StatusCode)}
	}
	login := resp.Request.Header.Get("Authorization")
	return d.denied(denial{
		status: resp.StatusCode, by: "the registry", key: key, sent: login != "",
		accepted: resp.StatusCode == http.StatusForbidden || strings.HasPrefix(login, "Bearer "),
		said:     messageOf(resp),
	})
}

// denial is the answer to a request with the credential of that key.
type denial struct {
	status int
	by     string
	key    int
	// sent reports whether the login was sent, accepted whether it was right, as far as can be told.
	sent, accepted bool
	// said is the message of the answer.
	said string
}

func (d *endpoint) denied(n denial) *Error {
	e := &Error{Kind: ErrUnauthorized}
	if len(d.credentials) == 0 {
		e.Detail, e.said = fmt.Sprintf("%d: %s", n.status, d.withoutLogin(n)), n.said
		return e
	}
	login := d.credentials[n.key]
	switch {
	case !login.Complete():
		e.Detail, e.said = fmt.Sprintf("%d: %s denies access; the login from %s was not sent, as it has no user or no password",
			n.status, n.by, login.From), n.said
	case !n.sent:
		e.Detail, e.said = fmt.Sprintf("%d: %s denies access; the login from %s was not sent, as the registry did not ask for it",
			n.status, n.by, login.From), n.said
	case n.accepted:
		e.Detail = fmt.Sprintf("%d: %s knows the login from %s, but it may not pull %s, or there is no such repository",
			n.status, n.by, login.From, d.reference.Repository)
	default:
		e.Detail = fmt.Sprintf("%d: %s refuses the login from %s: its user or password is wrong, or has expired; log in again, or "+
			"correct the image pull secret", n.status, n.by, login.From)
	}
	return e
}

// withoutLogin says why access is denied if no login was found.
func (d *endpoint) withoutLogin(n denial) string {
	if n.status == http.StatusForbidden {
		return fmt.Sprintf("%s denies access, or there is no such repository; no login was found for it", n.by)
	}
	return fmt.Sprintf("%s wants a login, or there is no such repository; no credentials were found for it: add one with docker login %s, "+
		"or an image pull secret", n.by, d.loginName())
}

// loginName is the name by which the user logs in to the host.
func (d *endpoint) loginName() string {
	if d.host.Mirror {
		return d.host.Address
	}
	return d.reference.Registry
}
