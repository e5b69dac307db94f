package prober

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/probe"
)

const (
	maxRedirects = 10
	// maxHeader is how large the header of an answer may be.
	maxHeader = 64 << 10
)

// newTransport returns a transport without what would make one probe depend on another: connections, proxies and
// certificates. Servers in pods have certificates of their own making.
func newTransport(d Dialer) *http.Transport {
	return &http.Transport{
		DialContext:        d.dial,
		DisableKeepAlives:  true,
		DisableCompression: true,
		TLSClientConfig:    &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // As in a kubelet.
		// A server may speak nothing else. With a dialer of our own it is not the default.
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// client follows redirects on the same host only.
func (p *Prober) client() *http.Client {
	return &http.Client{Transport: p.web, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		case r.URL.Hostname() != via[0].URL.Hostname():
			return http.ErrUseLastResponse
		case len(via) >= maxRedirects:
			return fmt.Errorf("there are more than %d redirects", maxRedirects)
		}
		return nil
	}}
}

// httpGet asks an HTTP server. Every status from 200 to 399 is a success.
func (p *Prober) httpGet(ctx context.Context, c Container, g *corev1.HTTPGetAction) (Outcome, error) {
	request, err := p.request(ctx, c, g, "kube-probe/")
	if err != nil {
		return Outcome{}, err
	}
	answer, err := p.client().Do(request)
	if err != nil {
		return failed("%v", err), nil
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxOutput))
	switch status := answer.StatusCode; {
	case err != nil:
		return failed("%v", err), nil
	case status < http.StatusOK || status >= http.StatusBadRequest:
		return failed("HTTP probe failed with statuscode: %d", status), nil
	case status >= http.StatusMultipleChoices:
		return Outcome{Result: probe.Success, Warning: fmt.Sprintf("the redirect with status %d was not followed: %s", status, body)}, nil
	}
	return Outcome{Result: probe.Success}, nil
}

// request returns the request for an action.
func (p *Prober) request(ctx context.Context, c Container, g *corev1.HTTPGetAction, agent string) (*http.Request, error) {
	address, err := c.address(g.Host, g.Port)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(g.Path)
	if err != nil {
		target = &url.URL{Path: g.Path}
	}
	target.Scheme, target.Host = "http", address
	if g.Scheme == corev1.URISchemeHTTPS {
		target.Scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	for _, h := range g.HTTPHeaders {
		request.Header.Add(h.Name, h.Value)
	}
	// The library takes the host from a field of its own. An empty Accept asks for none at all.
	request.Host = request.Header.Get("Host")
	setDefault(request.Header, "User-Agent", agent+p.version)
	setDefault(request.Header, "Accept", "*/*")
	if request.Header.Get("Accept") == "" {
		request.Header.Del("Accept")
	}
	return request, nil
}

func setDefault(h http.Header, name, value string) {
	if _, isSet := h[name]; !isSet {
		h.Set(name, value)
	}
}

// httpHook sends the request of a hook. Every answer is a success. A server that has no TLS though the hook asks for it is
// asked again without.
func (p *Prober) httpHook(ctx context.Context, c Container, g *corev1.HTTPGetAction) error {
	request, err := p.request(ctx, c, g, "kube-lifecycle/")
	if err != nil {
		return err
	}
	answer, err := p.client().Do(request)
	if isPlainHTTP(err) {
		request = request.Clone(ctx)
		request.URL.Scheme = "http"
		request.Header.Del("Authorization")
		answer, err = p.client().Do(request)
	}
	if err != nil {
		return err
	}
	_, _ = io.CopyN(io.Discard, answer.Body, maxOutput)
	return answer.Body.Close()
}

// isPlainHTTP reports whether err is about a server that answers to TLS in plain HTTP.
func isPlainHTTP(err error) bool {
	var failure *url.Error
	return errors.As(err, &failure) && strings.Contains(failure.Err.Error(), "server gave HTTP response to HTTPS client")
}
