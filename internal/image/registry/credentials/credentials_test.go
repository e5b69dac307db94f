package credentials_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/image/registry/credentials"
)

func users(t *testing.T, list []credentials.Credential) string {
	t.Helper()
	var names []string
	for _, c := range list {
		a, err := authn.Authorization(context.Background(), c.Authenticator())
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, a.Username+a.IdentityToken)
	}
	return strings.Join(names, " ")
}

func TestKeyringMatchesAsTheKubelet(t *testing.T) {
	for _, c := range []struct{ keys, repository, want string }{
		{"images.example.com", "images.example.com/a/b", "images.example.com"},
		{"images.example.com", "docker.io/a/b", ""},
		{"https://images.example.com", "images.example.com/a/b", "https://images.example.com"},
		{"http://images.example.com/v1/ images.example.com/v2/", "images.example.com/a/b", "http://images.example.com/v1/ images.example.com/v2/"},
		{"images.example.com images.example.com/a images.example.com/a/b images.example.com/c", "images.example.com/a/b", "images.example.com/a/b images.example.com/a images.example.com"},
		{"images.example.com/a", "images.example.com/ab/c", "images.example.com/a"}, // the kubelet compares letters, not parts
		{"*.example.com", "a.example.com/x", "*.example.com"},
		{"*.example.com", "example.com/x", ""},
		{"*.example.com", "a.b.example.com/x", ""},
		{"*.*.example.com b*.example.com", "a.b.example.com/x", "*.*.example.com"},
		{"a*.example.com/x", "ab.example.com/x/y", "a*.example.com/x"},
		{"a?.example.com", "ab.example.com/x", ""}, // a question mark begins the query of a URL
		{"*.example.com", "a.example.com:5000/x", ""},
		{"*.example.com:5000", "a.example.com:5000/x", "*.example.com:5000"},
		{"a.example.com *.example.com", "a.example.com/x", "a.example.com *.example.com"},
		{"https://index.docker.io/v1/", "docker.io/library/perl", "https://index.docker.io/v1/"},
		{"index.docker.io", "docker.io/library/perl", "index.docker.io"},
		{"docker.io https://index.docker.io/v1/", "docker.io/library/perl", "docker.io"},
		{"docker.io/me", "docker.io/library/perl", ""},
		{"*", "localhost/x", "*"},
		{"[::1]:5000", "[::1]:5000/x", "[::1]:5000"},
		{"[a.example.com", "a.example.com/x", ""},
	} {
		var k credentials.Keyring
		for _, key := range strings.Fields(c.keys) {
			k.Add(key, credentials.Password("a test", key, "x"))
		}
		found, err := k.Find(t.Context(), c.repository)
		if got := users(t, found); err != nil || got != c.want {
			t.Errorf("%s among %s: %q, %v, want %q", c.repository, c.keys, got, err, c.want)
		}
	}
}

func secret(kind corev1.SecretType, key, data string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "regcred"}, Type: kind, Data: map[string][]byte{key: []byte(data)}}
}

func TestPullSecrets(t *testing.T) {
	auth := base64.StdEncoding.EncodeToString([]byte("me:pass:word"))
	for what, c := range map[string]struct {
		secret    *corev1.Secret
		want, err string
	}{
		"dockerconfigjson": {secret: secret(corev1.SecretTypeDockerConfigJson, ".dockerconfigjson", `{"auths":{"images.example.com":{"auth":"`+auth+`"}}}`), want: "me"},
		"unpadded":         {secret: secret(corev1.SecretTypeDockercfg, ".dockercfg", `{"images.example.com":{"auth":"`+strings.TrimRight(auth, "=")+`"}}`), want: "me"},
		"user, password":   {secret: secret(corev1.SecretTypeDockercfg, ".dockercfg", `{"images.example.com":{"username":"you","password":"x","email":"y"}}`), want: "you"},
		"a token":          {secret: secret(corev1.SecretTypeDockercfg, ".dockercfg", `{"images.example.com":{"identitytoken":"tok"}}`), want: "tok"},
		"an empty entry":   {secret: secret(corev1.SecretTypeDockercfg, ".dockercfg", `{"images.example.com":{}}`)},
		"another type":     {secret: secret(corev1.SecretTypeOpaque, ".dockercfg", `{"images.example.com":{"username":"you","password":"x"}}`)},
		"another key":      {secret: secret(corev1.SecretTypeDockercfg, "x", `{}`)},
		"no JSON":          {secret: secret(corev1.SecretTypeDockercfg, ".dockercfg", `hidden`), err: "image pull secret regcred: not the JSON of a docker config"},
		"no base64":        {secret: secret(corev1.SecretTypeDockercfg, ".dockercfg", `{"https://u:hidden@images.example.com":{"auth":"hidden!"}}`), err: `entry "images.example.com": auth is not base64`},
	} {
		k := &credentials.Keyring{}
		err := k.AddSecret(c.secret)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s: error %v, want %s", what, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		found, _ := k.Find(t.Context(), "images.example.com/a")
		if got := users(t, found); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

func TestFingerprintsTellKeyringsApart(t *testing.T) {
	ring := func(key, user, password string) *credentials.Keyring {
		k := &credentials.Keyring{}
		k.Add(key, credentials.Password("a test", user, password))
		return k
	}
	seen := map[string]bool{}
	for _, k := range []*credentials.Keyring{
		nil, ring("images.example.com", "me", "hidden"), ring("images.example.com", "me", "hidden"), ring("images.example.com", "me", "other"), ring("images.example.com", "you", "hidden"), ring("docker.io", "me", "hidden"),
	} {
		seen[k.Fingerprint()] = true
		if strings.Contains(k.Fingerprint(), "hidden") {
			t.Error("the fingerprint has the secret")
		}
	}
	if len(seen) != 5 {
		t.Errorf("fingerprints %v", seen)
	}
}

func TestNoPrintedCredentialHasTheSecret(t *testing.T) {
	c := credentials.Password("somewhere", "me", "hidden")
	b, _ := json.Marshal(c)
	all := fmt.Sprintf("%v %+v %#v %s %q %x %d %v %s", c, c, c, c, c, c, c, []any{&c}, b)
	if strings.Contains(all, "hidden") || strings.Contains(all, fmt.Sprintf("%x", "hidden")) {
		t.Error(all)
	}
}

func TestUserLogins(t *testing.T) {
	for what, c := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"a home": {map[string]string{"HOME": "/h"}, []string{"/h/.docker/config.json", "/h/.config/containers/auth.json"}},
		"everything set": {
			map[string]string{"HOME": "/h", "DOCKER_CONFIG": "/d", "XDG_RUNTIME_DIR": "/r", "XDG_CONFIG_HOME": "/c"},
			[]string{"/d/config.json", "/r/containers/auth.json", "/c/containers/auth.json"},
		},
		"podman's own": {map[string]string{"HOME": "/h", "REGISTRY_AUTH_FILE": "/a"}, []string{"/h/.docker/config.json", "/a"}},
		"nothing":      {},
	} {
		got := credentials.UserLogins(func(k string) string { return c.env[k] })
		if d := cmp.Diff(c.want, got.Files); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
}

// helper puts docker-credential-name into PATH.
func helper(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docker-credential-"+name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestLoginsAskPrograms(t *testing.T) {
	helper(t, "good", `read -r server; [ "$1" = get ] && echo "{\"ServerURL\":\"$server\",\"Username\":\"<$server>\",\"Secret\":\"hidden\"}"`)
	helper(t, "token", `echo '{"Username":"<token>","Secret":"identity"}'`)
	helper(t, "none", `echo 'credentials not found in native keychain'; exit 1`)
	helper(t, "bad", `echo hidden; echo hidden >&2; exit 3`)
	helper(t, "odd", `echo hidden`)
	helper(t, "endless", `exec head -c 5000000 /dev/zero`)
	for what, c := range map[string]struct{ config, repository, want, err string }{
		"a store":              {config: `{"credsStore":"good"}`, repository: "images.example.com/a", want: "<images.example.com>"},
		"a store for the hub":  {config: `{"credsStore":"good"}`, repository: "docker.io/library/perl", want: "<https://index.docker.io/v1/>"},
		"a helper":             {config: `{"credsStore":"bad","credHelpers":{"images.example.com":"good"}}`, repository: "images.example.com/a", want: "<images.example.com>"},
		"a helper for the hub": {config: `{"credHelpers":{"https://index.docker.io/v1/":"token"}}`, repository: "docker.io/library/perl", want: "identity"},
		"another's helper":     {config: `{"credHelpers":{"images.example.com":"bad"}}`, repository: "other.example.com/a"},
		"a store and a file":   {config: `{"credsStore":"good","auths":{"images.example.com":{"username":"me","password":"x"},"other.example.com":{}}}`, repository: "images.example.com/a", want: "<images.example.com> me"},
		"nothing found":        {config: `{"credsStore":"none"}`, repository: "images.example.com/a"},
		"a failure":            {config: `{"credsStore":"bad","auths":{"images.example.com":{"username":"me","password":"x"}}}`, repository: "images.example.com/a", want: "me", err: "docker-credential-bad get: exit status 3"},
		"a missing program":    {config: `{"credsStore":"missing"}`, repository: "images.example.com/a", err: "docker-credential-missing is not in PATH"},
		"a path":               {config: `{"credsStore":"../good"}`, repository: "images.example.com/a", err: "not the name of a credential helper"},
		"nonsense":             {config: `{"credsStore":"odd"}`, repository: "images.example.com/a", err: "the answer is not a credential"},
		"too much":             {config: `{"credsStore":"endless"}`, repository: "images.example.com/a", err: "the answer is not a credential"},
		"an empty file":        {repository: "images.example.com/a"},
		"no JSON":              {config: `{"hidden`, repository: "images.example.com/a", err: "config.json: not the JSON of a docker config"},
	} {
		file := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(file, []byte(c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := credentials.Logins{Files: []string{"/nowhere/config.json", file}}.Find(t.Context(), c.repository)
		if got := users(t, found); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
		if text := fmt.Sprint(err); (c.err == "") != (err == nil) || !strings.Contains(text, c.err) || strings.Contains(text, "hidden") {
			t.Errorf("%s: error %v, want %s", what, err, c.err)
		}
	}
}
