package registry_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	ours "github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/registry/credentials"
)

const secret = "open-sesame"

func right() credentials.Credential { return credentials.Password("a test", "me", secret) }
func wrong() credentials.Credential {
	return credentials.Password("an old secret", "me", "wrong-"+secret)
}

// basic refuses requests without the right password, and repeats the wrong one in its error. It reports whether it has answered.
func basic(w http.ResponseWriter, r *http.Request) bool {
	user, password, _ := r.BasicAuth()
	if user == "me" && password == secret {
		return false
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
	w.WriteHeader(http.StatusUnauthorized)
	fmt.Fprintf(w, `{"errors":[{"code":"UNAUTHORIZED","message":"%s is wrong"}]}`, password)
	return true
}

// tokens refuses requests without a token. The client gets one at /token, on the same host, for the right password; it is
// valid for a few requests.
func (h *fakeRegistry) tokens(good int) func(http.ResponseWriter, *http.Request) bool {
	made, left := 0, 0
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			if basic(w, r) {
				return true
			}
			if r.URL.Query().Get("scope") != "repository:library/perl:pull" {
				h.t.Errorf("scope %q", r.URL.Query()["scope"])
			}
			made++
			left = good
			_ = json.NewEncoder(w).Encode(map[string]string{"token": fmt.Sprint("token-", made)})
			return true
		}
		if r.Header.Get("Authorization") == fmt.Sprint("Bearer token-", made) && left > 0 {
			left--
			return false
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="test"`, h.server.URL))
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
}

func TestCredentials(t *testing.T) {
	for scheme, guard := range map[string]func(*fakeRegistry) func(http.ResponseWriter, *http.Request) bool{
		"basic":                    func(*fakeRegistry) func(http.ResponseWriter, *http.Request) bool { return basic },
		"token":                    func(h *fakeRegistry) func(http.ResponseWriter, *http.Request) bool { return h.tokens(100) },
		"token that does not last": func(h *fakeRegistry) func(http.ResponseWriter, *http.Request) bool { return h.tokens(1) },
	} {
		for what, c := range map[string]struct {
			secrets, own []credentials.Credential
			kind         error
		}{
			"right":               {own: []credentials.Credential{right()}},
			"right in a secret":   {secrets: []credentials.Credential{right()}, own: []credentials.Credential{wrong()}},
			"right after a wrong": {secrets: []credentials.Credential{wrong()}, own: []credentials.Credential{wrong(), right()}},
			"wrong":               {secrets: []credentials.Credential{wrong()}, kind: ours.ErrUnauthorized},
			"none":                {kind: ours.ErrUnauthorized},
		} {
			t.Run(scheme+"/"+what, func(t *testing.T) {
				h := newFakeRegistry(t)
				h.perl()
				h.on(guard(h))
				h.config.Keychain = &keychain{list: c.own}
				client := h.client().With(&keychain{list: c.secrets})
				perl, err := ours.Parse("perl:5.34.0")
				if err != nil {
					t.Fatal(err)
				}
				image, err := client.Resolve(t.Context(), perl)
				if !errors.Is(err, c.kind) {
					t.Fatal(err)
				}
				if err != nil {
					if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
						t.Errorf("the error has the secret: %v", err)
					}
					return
				}
				if err := client.Fetch(t.Context(), image, image.Layers[0], h.file(nil), noReport); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestMirrorsGetCredentialsOfTheirOwn(t *testing.T) {
	h := newFakeRegistry(t)
	h.perl()
	h.toml("docker.io", fmt.Sprintf("server = 'http://127.0.0.1:1'\n[host.%q]", h.server.URL))
	k := &keychain{}
	h.config.Keychain = k
	h.mustResolve("perl:5.34.0")
	if want := []string{h.address() + "/library/perl", "docker.io/library/perl"}; !slices.Equal(k.asked[:2], want) {
		t.Errorf("asked for %q, want %q", k.asked, want)
	}
}

func TestBlobsElsewhereAreAskedForWithoutCredentials(t *testing.T) {
	for what, guard := range map[string]func(*fakeRegistry) func(http.ResponseWriter, *http.Request) bool{
		"basic": func(*fakeRegistry) func(http.ResponseWriter, *http.Request) bool { return basic },
		"token": func(h *fakeRegistry) func(http.ResponseWriter, *http.Request) bool { return h.tokens(100) },
	} {
		t.Run(what, func(t *testing.T) {
			h := newFakeRegistry(t)
			want := packed(t, h.perl())
			asked := 0
			elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if r.Header.Get("Authorization") != "" || r.Header.Get("X-Secret") != "" {
					t.Errorf("headers %v", r.Header)
				}
				_, _ = w.Write(want)
			}))
			t.Cleanup(elsewhere.Close)
			h.toml("docker.io", fmt.Sprintf("server = %q\n[header]\nX-Secret = 'x'", h.server.URL))
			h.config.Keychain = &keychain{list: []credentials.Credential{right()}}
			h.on(guard(h))
			image := h.mustResolve("perl:5.34.0")
			inside := guard(h)
			h.on(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("X-Secret") != "x" {
					t.Errorf("%s came without the header", r.URL)
				}
				if inside(w, r) || !strings.Contains(r.URL.Path, "/blobs/") {
					return true
				}
				http.Redirect(w, r, elsewhere.URL+"/signed?signature="+secret, http.StatusTemporaryRedirect)
				return true
			})
			if err := h.fetch(image, h.file(nil)); err != nil || asked != 1 {
				t.Errorf("asked %d times: %v", asked, err)
			}
			elsewhere.Close()
			if err := h.fetch(image, h.file(nil)); !errors.Is(err, ours.ErrUnavailable) || strings.Contains(err.Error(), secret) {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestTokenServersMayLimit(t *testing.T) {
	h := newFakeRegistry(t)
	tokens := h.tokens(10)
	h.on(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		return tokens(w, r)
	})
	_, err := h.resolve("perl:5.34.0")
	if !errors.Is(err, ours.ErrRateLimited) || !strings.Contains(err.Error(), "10m0s") {
		t.Errorf("error: %v", err)
	}
}

func TestTokenServersMayTalkNonsense(t *testing.T) {
	h := newFakeRegistry(t)
	tokens := h.tokens(10)
	h.on(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			fmt.Fprintf(w, `{"something":%q}`, secret)
			return true
		}
		return tokens(w, r)
	})
	if _, err := h.resolve("perl:5.34.0"); !errors.Is(err, ours.ErrBadAnswer) || strings.Contains(err.Error(), secret) {
		t.Errorf("error: %v", err)
	}
}
