package registry

import (
	"context"
	"net"
	"net/http"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/stint-dev/stint/internal/image/registry/credentials"
)

// Config is what a Client works with. The zero Config fetches without credentials and mirrors for this machine.
type Config struct {
	// Keychain has the credentials that are always there: the user's logins.
	Keychain credentials.Keychain
	// HostsDirs are looked through for hosts.toml; hosts.DefaultDirs has the usual ones.
	HostsDirs []string
	// Platform is what images must be for; by default, this machine's.
	Platform v1.Platform
	// Stall is how long a transfer may stand still.
	Stall time.Duration
	// Wait pauses between tries.
	Wait func(context.Context, time.Duration) error
}

// Client fetches manifests and blobs. It may be used from several goroutines.
type Client struct{ config Config }

// New makes a Client.
func New(c Config) *Client {
	if c.Keychain == nil {
		c.Keychain = credentials.Chain{}
	}
	if c.Platform.OS == "" {
		c.Platform = this()
	}
	if c.Stall <= 0 {
		c.Stall = time.Minute
	}
	if c.Wait == nil {
		c.Wait = wait
	}
	return &Client{config: c}
}

// With is a Client that tries the credentials of k, a pod's pull secrets, before its own.
func (c *Client) With(k credentials.Keychain) *Client {
	with := c.config
	with.Keychain = credentials.Chain{k, c.config.Keychain}
	return &Client{config: with}
}

// newTransport is that of a host before its settings are added.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          16,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       30 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: 45 * time.Second,
	}
}
