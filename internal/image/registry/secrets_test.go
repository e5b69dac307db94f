package registry_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"

	ours "github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/registry/credentials"
)

const oneToken = "token-for-one-pull"

// sayer is a registry with a token server of its own that repeats what it has got to log in, in one of many ways.
type sayer struct {
	*fakeRegistry
	// atTokens and atManifests answer with a text, where they are set. The text repeats the password or the token.
	atTokens, atManifests func(w http.ResponseWriter, text string)
	repeatsToken          bool
	// form is how the text repeats a secret.
	form func(string) string
}

func (s *sayer) answer(w http.ResponseWriter, r *http.Request) bool {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case r.URL.Path == "/token":
		_, password, _ := r.BasicAuth()
		if s.atTokens != nil {
			s.atTokens(w, s.form(password))
			return true
		}
		fmt.Fprintf(w, `{"token":%q}`, oneToken)
	case token == "":
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="%s"`, s.server.URL, secret))
		w.WriteHeader(http.StatusUnauthorized)
	case strings.Contains(r.URL.Path, "/manifests/"):
		text := secret
		if s.repeatsToken {
			text = token
		}
		s.atManifests(w, s.form(text))
	default:
		return false
	}
	return true
}

func says(status int) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, text string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"errors":[{"code":"X","message":%q}]}`, text)
	}
}

func manifest(format string) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, text string) { fmt.Fprintf(w, format, text) }
}

func redirects(format string) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, text string) {
		w.Header().Set("Location", fmt.Sprintf(format, url.PathEscape(text)))
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
}

// saysStatus answers with a text in the line of the status.
func saysStatus(w http.ResponseWriter, text string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "HTTP/1.1 206 %s\r\nContent-Length: 0\r\n\r\n", text)
}

func TestNoErrorRepeatsTheLogin(t *testing.T) {
	forms := map[string]func(string) string{
		"plain":   func(s string) string { return s },
		"base64":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"pair":    func(s string) string { return base64.StdEncoding.EncodeToString([]byte("me:" + s)) },
		"digits":  func(s string) string { return hex.EncodeToString([]byte(s)) },
		"percent": func(s string) string { return strings.ReplaceAll(s, "-", "%2d") },
		"quotes":  func(s string) string { return strings.ReplaceAll(s, "-", `"-"`) },
	}
	answers := map[string]func(http.ResponseWriter, string){
		"401": says(401), "403": says(403), "404": says(404), "413": says(413), "429": says(429), "500": says(500),
		"the status":    saysStatus,
		"a media type":  manifest(`{"schemaVersion":2,"mediaType":%q}`),
		"a platform":    manifest(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"platform":{"os":%q}}]}`),
		"no manifest":   manifest(`%s`),
		"a signed URL":  redirects("http://127.0.0.1:1/%s?signature=" + secret),
		"a user":        redirects("http://me:" + secret + "@127.0.0.1:1/%s"),
		"a host":        redirects("http://" + secret + "..invalid/%s"),
		"no URL":        redirects("http://[" + secret + "/%s"),
		"another login": redirects("ftp://127.0.0.1/%s"),
	}
	for form, as := range forms {
		hidden := []string{secret, as(secret), as(oneToken), base64.StdEncoding.EncodeToString([]byte("me:" + secret))}
		for what, answer := range answers {
			for _, repeated := range []string{"the password", "the token", "the password, by the token server"} {
				t.Run(form+"/"+what+"/"+repeated, func(t *testing.T) {
					s := &sayer{fakeRegistry: newFakeRegistry(t), atManifests: answer, form: as, repeatsToken: repeated == "the token"}
					if strings.HasSuffix(repeated, "server") {
						s.atTokens = answer
					}
					s.config.Keychain = &keychain{list: []credentials.Credential{right()}}
					s.on(s.answer)
					_, err := s.resolve("perl:5.34.0")
					if err == nil {
						t.Fatal("no error")
					}
					all := fmt.Sprintf("%v %+v %#v", err, err, err)
					for _, h := range hidden {
						if strings.Contains(all, h) {
							t.Errorf("%q is in the error: %v", h, err)
						}
					}
				})
			}
		}
	}
}

// A digest that a registry states is its words, too.
func TestNoErrorRepeatsTheLoginAsADigest(t *testing.T) {
	digest := "sha256:" + (hex.EncodeToString([]byte(secret)) + strings.Repeat("0", 64))[:64]
	const index = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"digest":%q,"size":%d,"platform":{"os":"linux","architecture":%q}}]}`
	const image = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",` +
		`"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":%q,"size":%d},"layers":[]}`
	for what, c := range map[string]struct{ promised, manifest string }{
		"of the answer":      {digest, "{}"},
		"in an index":        {"", fmt.Sprintf(index, digest, 5, runtime.GOARCH)},
		"of a configuration": {"", fmt.Sprintf(image, digest, 5)},
		"of a configuration that is larger than it": {"", fmt.Sprintf(image, digest, 1)},
	} {
		t.Run(what, func(t *testing.T) {
			h := newFakeRegistry(t)
			h.config.Keychain = &keychain{list: []credentials.Credential{right()}}
			h.on(func(w http.ResponseWriter, r *http.Request) bool {
				if basic(w, r) {
					return true
				}
				if c.promised != "" {
					w.Header().Set("Docker-Content-Digest", c.promised)
				}
				if strings.HasSuffix(r.URL.Path, digest) {
					fmt.Fprint(w, "other")
				} else {
					fmt.Fprint(w, c.manifest)
				}
				return true
			})
			_, err := h.resolve("perl:5.34.0")
			if err == nil || strings.Contains(err.Error(), digest[:20]) || !strings.Contains(err.Error(), "as it repeats the login") {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestMessagesThatRepeatNothingAreShownOnOneLine(t *testing.T) {
	h := newFakeRegistry(t)
	h.config.Keychain = &keychain{list: []credentials.Credential{right()}}
	h.on(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"errors":[{"message":"the repository\r\nhas\u001b[31m moved\u009b31m"}]}`)
		return true
	})
	if _, err := h.resolve("perl:5.34.0"); !strings.HasSuffix(fmt.Sprint(err), "not found: 404 Not Found: the repository has\\x1b[31m moved\\u009b31m") {
		t.Errorf("error: %v", err)
	}
}

func TestADenialIsToldInOwnWords(t *testing.T) {
	plain := func(s string) string { return s }
	status := func(code int) func(*fakeRegistry) func(http.ResponseWriter, *http.Request) bool {
		return func(*fakeRegistry) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, _ *http.Request) bool {
				says(code)(w, "go away")
				return true
			}
		}
	}
	for what, c := range map[string]struct {
		guard func(*fakeRegistry) func(http.ResponseWriter, *http.Request) bool
		own   []credentials.Credential
		want  string
	}{
		"no login": {
			guard: status(401),
			want: "401: the registry wants a login, or there is no such repository; no credentials were found for it: add one with docker login docker.io, " +
				"or an image pull secret: go away",
		},
		"no login, and no access": {
			guard: status(403),
			want:  "403: the registry denies access, or there is no such repository; no login was found for it: go away",
		},
		"no login at the token server": {
			guard: func(h *fakeRegistry) func(http.ResponseWriter, *http.Request) bool {
				return (&sayer{fakeRegistry: h, form: func(string) string { return "go away" }, atTokens: says(403)}).answer
			},
			want: "403: the registry's token server denies access, or there is no such repository; no login was found for it: go away",
		},
		"a user without a password": {
			guard: status(401), own: []credentials.Credential{credentials.Password("a test", "me", "")},
			want: "401: the registry denies access; the login from a test was not sent, as it has no user or no password: go away",
		},
		"a user without a password at the token server": {
			guard: func(h *fakeRegistry) func(http.ResponseWriter, *http.Request) bool {
				return (&sayer{fakeRegistry: h, form: func(string) string { return "go away" }, atTokens: says(401)}).answer
			},
			own:  []credentials.Credential{credentials.Password("a test", "me", "")},
			want: "401: the registry's token server denies access; the login from a test was not sent, as it has no user or no password: go away",
		},
		"a wrong login": {
			guard: status(401), own: []credentials.Credential{right()},
			want: "401: the registry refuses the login from a test: its user or password is wrong, or has expired; log in again, or correct " +
				"the image pull secret",
		},
		"two wrong logins": {
			guard: status(401), own: []credentials.Credential{wrong(), right()},
			want: "refuses the login from a test: its user or password is wrong, or has expired; log in again, or correct " +
				"the image pull secret; tried were the logins from an old secret, a test",
		},
		"a login that the token server refuses": {
			guard: func(h *fakeRegistry) func(http.ResponseWriter, *http.Request) bool { return h.tokens(1) },
			own:   []credentials.Credential{wrong()},
			want:  "401: the registry's token server refuses the login from an old secret",
		},
		"a login without rights": {
			guard: status(403), own: []credentials.Credential{right()},
			want: "403: the registry knows the login from a test, but it may not pull library/perl, or there is no such repository",
		},
		"a token without rights": {
			guard: func(h *fakeRegistry) func(http.ResponseWriter, *http.Request) bool {
				return (&sayer{fakeRegistry: h, atManifests: says(401), form: plain}).answer
			},
			own:  []credentials.Credential{right()},
			want: "401: the registry knows the login from a test, but it may not pull library/perl, or there is no such repository",
		},
	} {
		t.Run(what, func(t *testing.T) {
			h := newFakeRegistry(t)
			h.config.Keychain = &keychain{list: c.own}
			h.on(c.guard(h))
			_, err := h.resolve("perl:5.34.0")
			if !errors.Is(err, ours.ErrUnauthorized) || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "go away") != strings.HasSuffix(c.want, "go away") {
				t.Errorf("error: %v, want %s", err, c.want)
			}
		})
	}
}

// The user of a login may be called like a word that Stint itself uses.
func TestErrorsOfThisMachineAreShownWhateverTheUserIsCalled(t *testing.T) {
	for _, user := range []string{"connect", "connection", "refused", "dial", "tcp"} {
		h := newFakeRegistry(t)
		h.config.Keychain = &keychain{list: []credentials.Credential{credentials.Password("a test", user, secret)}}
		h.server.Close()
		if _, err := h.resolve("perl:5.34.0"); !errors.Is(err, ours.ErrUnavailable) || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("user %s: %v", user, err)
		}
	}
}
