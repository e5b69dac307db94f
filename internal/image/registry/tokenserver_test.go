package registry_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	ours "github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/registry/credentials"
)

// tokenServer counts the requests that bring it the login, in a header or a form.
type tokenServer struct {
	*httptest.Server
	logins atomic.Int32
}

// newTokenServer starts a token server, which answers as answer says; without one, it gives a token.
func newTokenServer(t *testing.T, address string, answer http.HandlerFunc) *tokenServer {
	t.Helper()
	s := &tokenServer{}
	s.Server = serve(t, address, func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		if password == secret || r.PostFormValue("refresh_token") == secret {
			s.logins.Add(1)
		}
		if answer != nil {
			answer(w, r)
			return
		}
		fmt.Fprint(w, `{"token":"a-token"}`)
	})
	return s
}

// serve starts a server at an address of this machine.
func serve(t *testing.T, address string, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(handler)
	s.Listener.Close()
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// at returns the URL of the server by another name.
func (s *tokenServer) at(name string) string {
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	return "http://" + net.JoinHostPort(name, port)
}

// namesTokenServer guards a registry by the tokens of a token server.
func namesTokenServer(realm string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "Bearer a-token" {
			return false
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="test"`, realm))
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
}

func TestALocalRegistryMayHaveATokenServerOfItsOwn(t *testing.T) {
	h := newFakeRegistry(t)
	h.perl()
	tokens := newTokenServer(t, "127.0.0.1", nil)
	h.on(namesTokenServer(tokens.at("localhost")))
	for _, c := range []credentials.Credential{right(), credentials.IdentityToken("a test", secret)} {
		h.config.Keychain = &keychain{list: []credentials.Credential{c}}
		tokens.logins.Store(0)
		h.mustResolve("perl:5.34.0")
		if tokens.logins.Load() == 0 {
			t.Errorf("the token server did not get the %s", c)
		}
	}
}

func TestNoTokenServerSendsTheLoginOn(t *testing.T) {
	for what, c := range map[string]credentials.Credential{"password": right(), "token": credentials.IdentityToken("a test", secret)} {
		t.Run(what, func(t *testing.T) {
			h := newFakeRegistry(t)
			h.perl()
			other := newTokenServer(t, "127.0.0.1", nil)
			first := newTokenServer(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, other.at("localhost")+"/token", http.StatusTemporaryRedirect)
			})
			h.on(namesTokenServer(first.at("localhost")))
			h.config.Keychain = &keychain{list: []credentials.Credential{c}}
			_, err := h.resolve("perl:5.34.0")
			if first.logins.Load() == 0 || other.logins.Load() > 0 {
				t.Errorf("the first got the login %d times, the other %d: %v", first.logins.Load(), other.logins.Load(), err)
			}
		})
	}
}

// The path of the registry's own token server may be one of the image.
func TestNoRegistrySendsATokenOn(t *testing.T) {
	for _, path := range []string{"/token", "/v2/library/perl/token", "/v2/"} {
		t.Run(path, func(t *testing.T) {
			h := newFakeRegistry(t)
			h.perl()
			other := newTokenServer(t, "127.0.0.1", nil)
			h.on(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPost {
					http.Redirect(w, r, other.at("localhost")+"/token", http.StatusTemporaryRedirect)
					return true
				}
				if r.Header.Get("Authorization") == "Bearer a-token" {
					return false
				}
				w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s%s",service="test"`, h.server.URL, path))
				w.WriteHeader(http.StatusUnauthorized)
				return true
			})
			h.config.Keychain = &keychain{list: []credentials.Credential{credentials.IdentityToken("a test", secret)}}
			_, err := h.resolve("perl:5.34.0")
			if other.logins.Load() > 0 || !errors.Is(err, ours.ErrBadAnswer) || !strings.Contains(err.Error(), "redirects the login to another host") {
				t.Errorf("the other host got the token %d times: %v", other.logins.Load(), err)
			}
		})
	}
}

func TestNoLoginLeavesASecureRegistryInTheClear(t *testing.T) {
	for what, redirects := range map[string]bool{"named by the registry": false, "named after a redirect to plain HTTP": true} {
		t.Run(what, func(t *testing.T) {
			h := newFakeRegistry(t)
			tokens := newTokenServer(t, "127.0.0.1", nil)
			guard := namesTokenServer(tokens.at("localhost"))
			plain := serve(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) { guard(w, r) })
			secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if redirects {
					http.Redirect(w, r, plain.URL+r.URL.Path, http.StatusTemporaryRedirect)
					return
				}
				guard(w, r)
			}))
			t.Cleanup(secure.Close)
			h.toml("docker.io", fmt.Sprintf("server = %q\nskip_verify = true", secure.URL))
			h.config.Keychain = &keychain{list: []credentials.Credential{right()}}
			_, err := h.resolve("perl:5.34.0")
			if !errors.Is(err, ours.ErrBadAnswer) || !strings.Contains(err.Error(), "without HTTPS") || tokens.logins.Load() > 0 {
				t.Errorf("the token server got the login %d times: %v", tokens.logins.Load(), err)
			}
		})
	}
}

func TestATokenServerByAPrivateAddressIsNotSupported(t *testing.T) {
	h := newFakeRegistry(t)
	tokens := newTokenServer(t, "127.0.0.1", nil)
	h.on(namesTokenServer(tokens.URL))
	_, err := h.resolve("perl:5.34.0")
	const want = "by a private IP address that is not the registry's own, which is not supported; on a private network, a host name works"
	if !errors.Is(err, ours.ErrBadAnswer) || !strings.Contains(err.Error(), want) {
		t.Errorf("error: %v", err)
	}
}

// addresses are the names and addresses of the hosts in a network of the test's own.
var addresses = map[string]string{
	"public.test":        "203.0.113.2",
	"loopback.test":      "127.0.0.1",
	"loopback6.test":     "::1",
	"private.test":       "10.0.0.1",
	"link-local.test":    "169.254.169.254",
	"shared.test":        "100.64.0.1",
	"unspecified.test":   "0.0.0.0",
	"unique-local.test":  "fd00::1",
	"registry.test":      "203.0.113.1",
	"localregistry.test": "10.0.0.2",
}

// TestOnlyPublicTokenServersGetTheLoginFromAPublicRegistry has public and private addresses in a network of its own, and names for
// them in a hosts file.
func TestOnlyPublicTokenServersGetTheLoginFromAPublicRegistry(t *testing.T) {
	if os.Getenv(inside) == "" {
		runInside(t)
		return
	}
	prepareNetwork(t)
	for name, address := range addresses {
		if strings.Contains(name, "registry") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			tokens := newTokenServer(t, address, nil)
			for _, from := range []string{"registry.test", "localregistry.test"} {
				for _, proxied := range []bool{false, true} {
					_, err := pullFrom(t, from, tokens.at(name), proxied)
					want := name == "public.test" || from == "localregistry.test" || proxied
					if got := tokens.logins.Swap(0) > 0; got != want || got != (err == nil) {
						t.Errorf("the token server got the login from %s, by a proxy %t: %t, want %t: %v", from, proxied, got, want, err)
					}
					if err != nil && !strings.Contains(err.Error(), "names a token server on a private address") {
						t.Errorf("error: %v", err)
					}
				}
			}
		})
	}
}

// pullFrom resolves an image of a registry that names a token server.
func pullFrom(t *testing.T, registry, realm string, proxied bool) (*ours.Image, error) {
	t.Helper()
	h := newFakeRegistry(t)
	h.push("library/perl:5.34.0", makeImage(t, "amd64", "", 100))
	h.on(namesTokenServer(realm))
	server := serve(t, addresses[registry], h.serve)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	toml := fmt.Sprintf("server = 'http://%s:%s'\n", registry, port)
	if proxied {
		toml += fmt.Sprintf("proxy = %q\n", serve(t, "127.0.0.1", forward).URL)
	}
	h.toml("docker.io", toml)
	h.config.Keychain = &keychain{list: []credentials.Credential{right()}}
	return h.resolve("perl:5.34.0")
}

// forward is the handler of a proxy.
func forward(w http.ResponseWriter, r *http.Request) {
	r.RequestURI = ""
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

// inside is the variable of a test that runs in namespaces of its own.
const inside = "STINT_TEST_OWN_NETWORK"

// runInside runs the test again, in a network and a mount namespace of its own.
func runInside(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to make a network")
	}
	cmd := exec.Command(os.Args[0], "-test.v", "-test.count=1", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inside+"=yes")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET, Pdeathsig: unix.SIGKILL}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// prepareNetwork gives this machine, which is the test's own here, the addresses and their names.
func prepareNetwork(t *testing.T) {
	t.Helper()
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		t.Fatal(err)
	}
	var names strings.Builder
	for name, address := range addresses {
		fmt.Fprintf(&names, "%s %s\n", address, name)
		ip := net.ParseIP(address)
		if ip.IsLoopback() || ip.IsUnspecified() {
			continue
		}
		if err := netlink.AddrAdd(loopback, &netlink.Addr{IPNet: netlink.NewIPNet(ip), Flags: unix.IFA_F_NODAD}); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte(names.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(file, "/etc/hosts", "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
}
