package registry

import (
	"cmp"
	"context"
	"net/http"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/stint-dev/stint/internal/image/registry/credentials"
)

// Config configures a Client. The zero Config fetches images for this machine, without credentials and mirrors.
type Config struct {
	// Keychain has the credentials that are tried for every image: the user's logins.
	Keychain credentials.Keychain
	// HostsDirs are searched for hosts.toml; hosts.DefaultDirs returns the usual ones.
	HostsDirs []string
	// Platform is what images must be for; by default, this machine's.
	Platform v1.Platform
	// Answer is how long an answer of a few kilobytes may take, with the login that it needs: that of a token server, a manifest, a
	// configuration, the headers of a layer. By default, a minute.
	Answer time.Duration
	// Stall is how long the transfer of a layer may go without data; by default, a minute.
	Stall time.Duration
	// Wait waits between tries; by default, for the given time.
	Wait func(context.Context, time.Duration) error
}

// Client fetches manifests and blobs. It may be used from several goroutines.
type Client struct{ config Config }

// New returns a Client.
func New(c Config) *Client {
	if c.Keychain == nil {
		c.Keychain = credentials.Chain{}
	}
	if c.Platform.OS == "" {
		c.Platform = thisPlatform()
	}
	c.Answer, c.Stall = cmp.Or(c.Answer, time.Minute), cmp.Or(c.Stall, time.Minute)
	if c.Wait == nil {
		c.Wait = wait
	}
	return &Client{config: c}
}

// With returns a Client that tries the credentials of k, a pod's pull secrets, before those of c.
func (c *Client) With(k credentials.Keychain) *Client {
	with := c.config
	with.Keychain = credentials.Chain{k, c.config.Keychain}
	return &Client{config: with}
}

const (
	handshakeTimeout = 15 * time.Second
	// maxHeaders bounds the headers of an answer, in bytes.
	maxHeaders = 64 << 10
)

// newTransport returns the transport of a host, before its settings are applied. It has no timeouts for answers, as the guard of a request has
// one for all that belongs to it, and none for idle connections, as they end with the pull.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    4,
		TLSHandshakeTimeout:    handshakeTimeout,
		MaxResponseHeaderBytes: maxHeaders,
	}
}
