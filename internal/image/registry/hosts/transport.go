package hosts

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// Transport sends requests to a host, with its scheme and headers, and to other hosts, to which the registry redirects, without
// these.
type Transport struct {
	host  Host
	inner *http.Transport
	// until ends the connections.
	until context.Context
	// plain reports whether to use plain HTTP: by the settings, or after a fallback.
	plain atomic.Bool
}

// Transport returns a transport with the settings of h. Its connections end with ctx.
func (h Host) Transport(ctx context.Context, base *http.Transport) (*Transport, error) {
	t := base.Clone()
	if err := h.secure(t); err != nil {
		return nil, err
	}
	t.DialContext = dialUntil(ctx, h.dialer())
	if h.Proxy != nil {
		t.Proxy = http.ProxyURL(h.Proxy)
	}
	r := &Transport{host: h, inner: t, until: ctx}
	r.plain.Store(h.Scheme == "http")
	return r, nil
}

func (h Host) dialer() *net.Dialer {
	return &net.Dialer{Timeout: cmp.Or(h.DialTimeout, 30*time.Second), KeepAlive: 30 * time.Second}
}

// dialUntil returns the dial function of a dialer whose connections end with until. Without that, package http would keep them for a while
// after the last request, also those whose TLS handshake hangs.
func dialUntil(until context.Context, d *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stop := context.AfterFunc(until, cancel)
		defer stop()
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(until, func() { conn.Close() })
		return conn, nil
	}
}

func (h Host) secure(t *http.Transport) error {
	if t.TLSClientConfig == nil {
		t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	c := t.TLSClientConfig
	if h.SkipVerify != nil {
		c.InsecureSkipVerify = *h.SkipVerify
	}
	if len(h.CA) > 0 && c.RootCAs == nil {
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		c.RootCAs = roots
	}
	for _, file := range h.CA {
		pem, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("certificate authority of %s: %w", h.Address, err)
		}
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("certificate authority of %s: %s has no certificate", h.Address, file)
		}
	}
	for _, p := range h.Clients {
		key := p.Key
		if key == "" {
			key = p.Certificate
		}
		pair, err := tls.LoadX509KeyPair(p.Certificate, key)
		if err != nil {
			return fmt.Errorf("client certificate %s for %s: %w", p.Certificate, h.Address, err)
		}
		c.Certificates = append(c.Certificates, pair)
	}
	return nil
}

// RoundTrip implements http.RoundTripper. The scheme is that of the host's settings, whatever the library has chosen.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != t.host.Address {
		return t.inner.RoundTrip(req)
	}
	plain := t.plain.Load()
	resp, err := t.inner.RoundTrip(t.toHost(req, plain))
	if !plain && t.host.Fallback && answeredInPlainHTTP(err) && req.Body == nil {
		t.plain.Store(true)
		return t.inner.RoundTrip(t.toHost(req, true))
	}
	return resp, err
}

func (t *Transport) toHost(req *http.Request, plain bool) *http.Request {
	out := req.Clone(req.Context())
	for name, values := range t.host.Header {
		out.Header[name] = values
	}
	out.URL.Scheme = scheme(plain)
	return out
}

// Plain reports whether the host is reached by plain HTTP.
func (t *Transport) Plain() bool { return t.plain.Load() }

// answeredInPlainHTTP reports whether err means that the host answered in plain HTTP instead of TLS.
func answeredInPlainHTTP(err error) bool {
	var record tls.RecordHeaderError
	return errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/"
}

func scheme(plain bool) string {
	if plain {
		return "http"
	}
	return "https"
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the connections.
func (t *Transport) CloseIdleConnections() { t.inner.CloseIdleConnections() }
