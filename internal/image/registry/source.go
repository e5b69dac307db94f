package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stint-dev/stint/internal/image/registry/credentials"
	"github.com/stint-dev/stint/internal/image/registry/hosts"
)

// source has the endpoints of one image, in the order to try them.
type source struct {
	reference Reference
	endpoints []*endpoint
	// secrets are what has been sent, or may be, to log in.
	secrets *credentials.Secrets
}

func (c *Client) source(ctx context.Context, ref Reference) (*source, error) {
	list, err := hosts.Find(c.config.HostsDirs, ref.Registry)
	if err != nil {
		return nil, &Error{Kind: ErrSettings, Detail: err.Error()}
	}
	s := &source{reference: ref, secrets: &credentials.Secrets{}}
	s.secrets.AddPublic(ref.Name())
	for _, h := range list {
		t, err := h.Transport(ctx, newTransport())
		if err != nil {
			return nil, &Error{Kind: ErrSettings, Detail: err.Error()}
		}
		found, problem := c.credentials(ctx, h, ref)
		s.secrets.AddPublic(h.Address)
		s.secrets.AddHeader(h.Header)
		for _, credential := range found {
			s.secrets.AddCredential(credential)
		}
		s.endpoints = append(s.endpoints, &endpoint{
			host: h, reference: ref, transport: t, credentials: found, problem: problem, secrets: s.secrets,
		})
	}
	return s, nil
}

// credentials returns the credentials to try at h. A mirror gets those for its own address only, never those for the
// registry. The server of a hosts.toml counts as the registry, whatever its address is.
func (c *Client) credentials(ctx context.Context, h hosts.Host, ref Reference) ([]credentials.Credential, error) {
	own := h.Address + "/" + ref.Repository
	if h.Mirror {
		return c.config.Keychain.Find(ctx, own)
	}
	found, err := c.config.Keychain.Find(ctx, ref.Name())
	if len(found) > 0 || h.Address == ref.Registry {
		return found, err
	}
	more, otherErr := c.config.Keychain.Find(ctx, own)
	return more, errors.Join(err, otherErr)
}

// each calls do for one endpoint after the other until it succeeds. It returns the last error, since the registry itself comes
// last, with those before.
func (s *source) each(ctx context.Context, may func(hosts.Host) bool, do func(*endpoint) error) error {
	var before []*Error
	for _, d := range s.endpoints {
		if !may(d.host) {
			continue
		}
		err := do(d)
		if err == nil {
			return nil
		}
		var e *Error
		if ctx.Err() != nil || !errors.As(err, &e) || errors.Is(err, errLocal) {
			return err
		}
		at := *e
		at.Host = d.host.Address
		before = append(before, &at)
	}
	if len(before) == 0 {
		return &Error{Kind: ErrSettings, Detail: fmt.Sprintf("the settings of %s allow no host for this request", s.reference.Registry)}
	}
	last := before[len(before)-1]
	last.others = before[:len(before)-1]
	return last
}

// registryServes reports whether layers can be downloaded from the registry itself.
func (s *source) registryServes() bool {
	return slices.ContainsFunc(s.endpoints, func(d *endpoint) bool { return d.host.Pull && !d.host.Mirror })
}

// errLocal marks errors of files on this machine: no other host would help.
var errLocal = errors.New("cannot write")

func mayResolve(h hosts.Host) bool { return h.Resolve }
func mayPull(h hosts.Host) bool    { return h.Pull }
