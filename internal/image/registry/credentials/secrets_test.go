package credentials_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/image/registry/credentials"
)

// theirs are the secrets of a pull of registry.example.com/team/perl.
func theirs() *credentials.Secrets {
	s := &credentials.Secrets{}
	s.AddPublic("registry.example.com/team/perl")
	s.AddCredential(credentials.Password("a test", "alice", `s3/cr+t "päss" <&> \word`))
	s.AddCredential(credentials.Password("a test", "team", "pw-1"))
	s.AddCredential(credentials.IdentityToken("a test", "identity-token"))
	s.AddHeader(http.Header{
		"X-Key":         {"key of a header"},
		"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("bob:swordfish"))},
		"Cookie":        {`a=1; sid="cookie-value"; b=other:value`},
	})
	form := url.Values{"refresh_token": {"refreshed-token"}}.Encode()
	req, _ := http.NewRequest(http.MethodPost, "https://tokens.example.com", strings.NewReader(form))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer eyJhbGciOi.bearer-token")
	s.AddRequest(req)
	return s
}

func TestSecretsAreFoundInEveryForm(t *testing.T) {
	const password = `s3/cr+t "päss" <&> \word`
	asJSON := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b)
	}
	wrapped := func(s string) string {
		encoded := base64.StdEncoding.EncodeToString([]byte(s))
		return encoded[:10] + "\n" + encoded[10:]
	}
	for what, form := range map[string]string{
		"plain":                      password,
		"the user":                   "alice",
		"the user in a name":         "user=alice&x",
		"a short password":           "pw-1",
		"a token":                    "identity-token",
		"a token of a header":        "eyJhbGciOi.bearer-token",
		"a token of a form":          "refreshed-token",
		"a header":                   "key of a header",
		"a password of a header":     "swordfish",
		"a user of a header":         "user bob",
		"the login of a header":      base64.StdEncoding.EncodeToString([]byte("bob:swordfish")),
		"a cookie":                   "sid: cookie-value",
		"the last cookie":            "other:value",
		"another case":               strings.ToUpper("identity-token"),
		"split by quotes":            `identity-"+"token`,
		"split by lines":             "identity-\n\ttoken",
		"JSON":                       asJSON(password),
		"JSON in JSON":               asJSON(asJSON(password)),
		"JSON of code points":        `s3\/cr\u002bt \u0022p\u00e4ss\u0022 \u003c\u0026\u003e \u005cword`,
		"Go":                         fmt.Sprintf("%+q", password),
		"bytes of Go":                `\x69dentity\x2dtoken`,
		"a query":                    url.QueryEscape(password),
		"a path":                     url.PathEscape(password),
		"a query in a query":         url.QueryEscape(url.QueryEscape(password)),
		"every byte in percents":     "%69%64%65%6e%74%69%74%79%2D%74%6f%6b%65%6e",
		"HTML":                       "s3/cr+t &quot;p&#228;ss&quot; &lt;&amp;&gt; \\word",
		"base64":                     base64.StdEncoding.EncodeToString([]byte(password)),
		"base64 of a short one":      base64.StdEncoding.EncodeToString([]byte("pw-1")),
		"base64 for URLs":            base64.RawURLEncoding.EncodeToString([]byte(password)),
		"base64 in a path":           "/v2/" + base64.StdEncoding.EncodeToString([]byte(password)) + "/x",
		"base64 in lines":            wrapped(password),
		"base64 in lines, as JSON":   asJSON(wrapped(password)),
		"base64 in a query":          url.QueryEscape(base64.StdEncoding.EncodeToString([]byte("alice:" + password))),
		"base64 of user and secret":  "Basic " + base64.StdEncoding.EncodeToString([]byte("alice:"+password)),
		"base64 of a short one's":    "Basic " + base64.StdEncoding.EncodeToString([]byte("team:pw-1")),
		"base64 of another user's":   "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+password)),
		"base64 of something longer": base64.StdEncoding.EncodeToString([]byte(`{"a":"identity-token"}`)),
		"digits":                     hex.EncodeToString([]byte(password)),
		"digits of Go":               fmt.Sprintf("% X", "identity-token"),
		"numbers of another":         fmt.Sprintf("a %x", "eyJhbGciOi.bearer-token"),
	} {
		for _, text := range []string{form, "denied: " + form + " is wrong", "a " + form, "an " + form} {
			if !theirs().Repeated(text) {
				t.Errorf("%s is not found in %s", what, text)
			}
		}
	}
}

func TestWhatIsNoSecretIsNotFound(t *testing.T) {
	for _, text := range []string{
		"", "manifest unknown: team/perl of registry.example.com", "malice and pw-12 are other words",
		"no space left on device", "no basic login; a=1, a bearer token is needed", "dial tcp 10.0.0.1:443: connect: connection refused",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"You have reached your pull rate limit. You may increase the limit by authenticating and upgrading",
	} {
		if theirs().Repeated(text) {
			t.Errorf("a secret is found in %q", text)
		}
	}
}

func TestALoginWithoutAPasswordHasNoSecretButItsUser(t *testing.T) {
	s := &credentials.Secrets{}
	s.AddCredential(credentials.Password("a test", "anonymous", ""))
	for text, want := range map[string]bool{"no user anonymous: try again": true, "Anonymously: no": false, "a non-y, mous: b": false} {
		if got := s.Repeated(text); got != want {
			t.Errorf("a secret is found in %q: %t", text, got)
		}
	}
}
