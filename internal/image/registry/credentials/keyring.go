package credentials

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
)

// dockerHub is the host under which docker login stores what is for docker.io.
const dockerHub = "index.docker.io"

// Keyring matches repositories to credentials as the kubelet does: by host, with wildcards within its parts, and by the start
// of the path. The key that sorts last is tried first, so that a longer path comes before its beginning. A nil Keyring is
// an empty one.
type Keyring struct {
	keys []string
	of   map[string][]Credential
}

// Add adds a credential under a key of a docker config: registry.example.com, https://index.docker.io/v1/,
// *.example.com:5000/team.
func (k *Keyring) Add(key string, c Credential) {
	key, ok := plainKey(key)
	if !ok {
		return
	}
	if k.of == nil {
		k.of = map[string][]Credential{}
	}
	if _, known := k.of[key]; !known {
		k.keys = append(k.keys, key)
		slices.SortFunc(k.keys, func(a, b string) int { return strings.Compare(b, a) })
	}
	k.of[key] = append(k.of[key], c)
}

// Fingerprint returns a hash of the keyring: equal keyrings have equal ones. That of an empty keyring is empty.
func (k *Keyring) Fingerprint() string {
	if k == nil || len(k.keys) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, key := range k.keys {
		for _, c := range k.of[key] {
			fmt.Fprintf(sum, "%q %q %q %q %q\n", key, c.From, c.config.Username, c.config.Password, c.config.IdentityToken)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Find implements Keychain.
func (k *Keyring) Find(_ context.Context, repository string) ([]Credential, error) {
	if k == nil {
		return nil, nil
	}
	var found []Credential
	for _, key := range k.keys {
		if matches(key, repository) {
			found = append(found, k.of[key]...)
		}
	}
	if len(found) == 0 && strings.HasPrefix(repository, "docker.io/") {
		return k.of[dockerHub], nil
	}
	return found, nil
}

// plainKey removes the scheme and the API version from a key, as neither identifies the registry.
func plainKey(key string) (string, bool) {
	if !strings.HasPrefix(key, "https://") && !strings.HasPrefix(key, "http://") {
		key = "https://" + key
	}
	u, err := url.Parse(key)
	if err != nil || u.Host == "" {
		return "", false
	}
	p := u.Path
	if strings.HasPrefix(p, "/v2/") || strings.HasPrefix(p, "/v1/") {
		p = p[len("/v2"):]
	}
	if p == "/" {
		p = ""
	}
	return u.Host + p, true
}

func matches(key, repository string) bool {
	keyHost, keyPath, _ := strings.Cut(key, "/")
	host, repositoryPath, _ := strings.Cut(repository, "/")
	return strings.HasPrefix(repositoryPath, keyPath) && matchesHost(keyHost, host)
}

// matchesHost compares part by part: a wildcard never spans a dot. Ports cannot have wildcards.
func matchesHost(key, host string) bool {
	keyName, keyPort := splitPort(key)
	name, port := splitPort(host)
	keyParts, parts := strings.Split(keyName, "."), strings.Split(name, ".")
	if keyPort != port || len(keyParts) != len(parts) {
		return false
	}
	for i, part := range keyParts {
		if ok, err := path.Match(part, parts[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

func splitPort(address string) (name, port string) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return address, ""
	}
	return name, port
}
