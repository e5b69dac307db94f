package hosts

import (
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

// Transport returns a transport with the settings of h. It also sends requests to other hosts, to which the registry
// redirects for blobs and tokens, but without the headers for h.
func (h Host) Transport(base *http.Transport) (http.RoundTripper, error) {
	t := base.Clone()
	if err := h.secure(t); err != nil {
		return nil, err
	}
	if h.DialTimeout > 0 {
		t.DialContext = (&net.Dialer{Timeout: h.DialTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	if h.Proxy != nil {
		t.Proxy = http.ProxyURL(h.Proxy)
	}
	r := &roundTripper{host: h, inner: t}
	r.plain.Store(h.Scheme == "http")
	return r, nil
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

// roundTripper sets the scheme of requests to its host, whatever the library has chosen.
type roundTripper struct {
	host  Host
	inner *http.Transport
	// plain reports whether to use plain HTTP: by the settings, or after a fallback.
	plain atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (r *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != r.host.Address {
		return r.inner.RoundTrip(req)
	}
	out := req.Clone(req.Context())
	for name, values := range r.host.Header {
		out.Header[name] = values
	}
	plain := r.plain.Load()
	out.URL.Scheme = scheme(plain)
	resp, err := r.inner.RoundTrip(out)
	if !plain && r.host.Fallback && answeredInPlainHTTP(err) && req.Body == nil {
		r.plain.Store(true)
		out = out.Clone(req.Context())
		out.URL.Scheme = scheme(true)
		return r.inner.RoundTrip(out)
	}
	return resp, err
}

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
func (r *roundTripper) CloseIdleConnections() { r.inner.CloseIdleConnections() }
