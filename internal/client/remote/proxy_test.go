package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/test/await"
)

// fault is what goes wrong with a request.
type fault int

const (
	none fault = iota
	// lostRequest ends the connection before the API server gets the request.
	lostRequest
	// lostAnswer ends the connection after the API server has carried the request out.
	lostAnswer
	// lateAnswer carries the request out, but answers that it timed out.
	lateAnswer
	// noAnswer does not forward the request and keeps the connection open until the client's timeout.
	noAnswer
	// halfAnswer stops in the middle of a response and keeps the connection open until the client's timeout.
	halfAnswer
	// busy is 429 with Retry-After, turnedAway 429 without.
	busy
	turnedAway
	broken
	unavailable
	// slow delays the request.
	slow
	// tooOld refuses a watch or list because its resource version is too old.
	tooOld
	// cutStream ends a watch after a few bytes.
	cutStream
)

// proxy forwards the requests of a client to an API server, with the faults that faults chooses.
type proxy struct {
	*httptest.Server
	forward *httputil.ReverseProxy
	faults  func(*http.Request) fault

	mu   sync.Mutex
	seen map[fault]int
	// sent are all requests of clients, by the value of the header requestNumber.
	sent map[string]*sent
}

func startProxy(t *testing.T, to *rest.Config, faults func(*http.Request) fault) *proxy {
	t.Helper()
	transport, err := rest.TransportFor(to)
	if err != nil {
		t.Fatal(err)
	}
	target, _, err := rest.DefaultServerUrlFor(to)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{faults: faults, seen: map[fault]int{}, sent: map[string]*sent{}}
	p.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host}) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.Server = httptest.NewUnstartedServer(p)
	p.EnableHTTP2 = true
	p.StartTLS()
	t.Cleanup(func() { p.CloseClientConnections(); p.Close() })
	return p
}

// config returns the config of a client that connects to the proxy. Its requests never time out because the machine is
// slow: the proxy ends them where a fault needs a timeout.
func (p *proxy) config() *rest.Config {
	c := &rest.Config{Host: p.URL, QPS: -1, Timeout: await.Limit, TLSClientConfig: rest.TLSClientConfig{CAData: pemOf(p.Certificate())}}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return numbering{p, next} })
	return c
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Read the whole request first. A response may start before the request has ended, and if the request were streamed
	// over HTTP/2, both would wait for each other.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f := p.faults(r)
	p.mu.Lock()
	p.seen[f]++
	p.mu.Unlock()
	switch f {
	case lostRequest:
		panic(http.ErrAbortHandler)
	case lostAnswer:
		p.forward.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case lateAnswer:
		p.forward.ServeHTTP(httptest.NewRecorder(), r)
		refuse(w, http.StatusGatewayTimeout, "Timeout")
	case noAnswer:
		p.sender(r).giveUp(context.DeadlineExceeded)
		<-r.Context().Done()
	case halfAnswer:
		p.forward.ServeHTTP(&stoppingWriter{ResponseWriter: w, request: r, sender: p.sender(r)}, r)
	case busy:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "TooManyRequests")
	case turnedAway:
		refuse(w, http.StatusTooManyRequests, "TooManyRequests")
	case broken:
		refuse(w, http.StatusInternalServerError, "InternalError")
	case unavailable:
		refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable")
	case tooOld:
		refuse(w, http.StatusGone, "Expired")
	case cutStream:
		p.forward.ServeHTTP(&shortWriter{ResponseWriter: w, left: 4096}, r)
	case slow:
		timer := time.NewTimer(50 * time.Millisecond)
		defer timer.Stop()
		<-timer.C
		p.forward.ServeHTTP(w, r)
	default:
		p.forward.ServeHTTP(w, r)
	}
}

func (p *proxy) count(f fault) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[f]
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"by the test","reason":%q,"code":%d}`, reason, code)
}

// shortWriter ends the connection after left bytes.
type shortWriter struct {
	http.ResponseWriter
	left int
}

func (s *shortWriter) Write(b []byte) (int, error) {
	if s.left -= len(b); s.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return s.ResponseWriter.Write(b)
}

// Unwrap lets the reverse proxy flush the response.
func (s *shortWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// stoppingWriter writes the first half of the first write, then lets the client's request time out.
type stoppingWriter struct {
	http.ResponseWriter
	request *http.Request
	sender  *sent
}

func (s *stoppingWriter) Write(b []byte) (int, error) {
	if _, err := s.ResponseWriter.Write(b[:len(b)/2]); err != nil {
		return 0, err
	}
	if err := http.NewResponseController(s.ResponseWriter).Flush(); err != nil {
		return 0, err
	}
	<-s.sender.answered
	s.sender.giveUp(context.DeadlineExceeded)
	<-s.request.Context().Done()
	return 0, http.ErrAbortHandler
}
