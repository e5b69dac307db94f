package hosts_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stint-dev/stint/internal/image/registry/hosts"
	"github.com/stint-dev/stint/test/await"
)

// ask sends a request to the first host of a hosts.toml.
func ask(t *testing.T, dir, toml string) (string, error) {
	t.Helper()
	list, err := hosts.Parse(filepath.Join(dir, "hosts.toml"), []byte(toml), "a")
	if err != nil {
		t.Fatal(err)
	}
	transport, err := list[0].Transport(t.Context(), &http.Transport{})
	if err != nil {
		return "", err
	}
	client := http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	resp, err := client.Get(list[0].URL("a", "b", "c"))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func pair(t *testing.T) (certificate, both string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return certificate, certificate + string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}))
}

func TestTransportUsesTheCertificates(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, len(r.TLS.PeerCertificates))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	dir := t.TempDir()
	write(t, dir+"/ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	_, both := pair(t)
	write(t, dir+"/me.pem", both)
	for _, c := range []struct{ settings, want string }{
		{"", "error"}, {"skip_verify = true", "0"}, {"ca = 'ca.crt'", "0"}, {"ca = 'ca.crt'\nclient = 'me.pem'", "1"},
		{"ca = 'me.pem'", "error"}, {"ca = 'missing'", "error"}, {"skip_verify = true\nclient = 'ca.crt'", "error"},
	} {
		got, err := ask(t, dir, fmt.Sprintf("server = %q\n%s", s.URL, c.settings))
		if got != c.want && (c.want != "error" || err == nil) {
			t.Errorf("%s: %q, %v", c.settings, got, err)
		}
	}
}

func TestTransportFallsBackOnlyWhereItMay(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "plain") }))
	t.Cleanup(s.Close)
	if got, err := ask(t, "", fmt.Sprintf("server = %q\nskip_verify = true", s.URL)); got != "plain" {
		t.Errorf("%q, %v", got, err)
	}
	secure := strings.Replace(s.URL, "http", "https", 1)
	if got, err := ask(t, "", fmt.Sprintf("server = %q\nskip_verify = true", secure)); err == nil {
		t.Errorf("HTTPS was given up: %q", got)
	}
}

func TestTransportGoesThroughTheProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) }))
	t.Cleanup(proxy.Close)
	got, err := ask(t, "", fmt.Sprintf("server = 'http://registry.invalid:80'\nproxy = %q\ndial_timeout = '5s'", proxy.URL))
	if got != "registry.invalid:80" {
		t.Errorf("%q, %v", got, err)
	}
}

// Package http would keep these connections: one is idle, one waits for the end of a handshake whose request has been given up.
func TestConnectionsEndWithTheContext(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		until, end := context.WithCancel(t.Context())
		h := hosts.Host{Scheme: scheme, Address: listener.Addr().String(), Path: "/v2"}
		transport, err := h.Transport(until, &http.Transport{})
		if err != nil {
			t.Fatal(err)
		}
		asking, giveUp := context.WithCancel(t.Context())
		asked := make(chan error, 1)
		go func() { asked <- get(asking, transport, h.URL("a", "b", "c")) }()
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Read(make([]byte, 4<<10)); err != nil {
			t.Fatal(err)
		}
		if scheme == "https" {
			giveUp()
		} else if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if err := await.Value(t, "the end of the request", asked); (err == nil) != (scheme == "http") {
			t.Errorf("%s: %v", scheme, err)
		}
		giveUp()
		end()
		closed := make(chan error, 1)
		go func() {
			_, err := conn.Read(make([]byte, 1))
			closed <- err
		}()
		if err := await.Value(t, "the end of the connection by "+scheme, closed); err == nil {
			t.Errorf("%s: the connection goes on", scheme)
		}
	}
}

func get(ctx context.Context, transport http.RoundTripper, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}
