package credentials

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// AddSecret adds the credentials of a Secret that a pod lists in its imagePullSecrets. Like the kubelet, it ignores Secrets
// of other types.
func (k *Keyring) AddSecret(s *corev1.Secret) error {
	from := "image pull secret " + s.Name
	entries, err := pullSecret(s)
	if err == nil {
		err = k.addAll(from, entries)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}

func pullSecret(s *corev1.Secret) (map[string]entry, error) {
	switch data := s.Data; {
	case s.Type == corev1.SecretTypeDockerConfigJson && len(data[corev1.DockerConfigJsonKey]) > 0:
		c, err := decode[config](data[corev1.DockerConfigJsonKey])
		return c.Auths, err
	case s.Type == corev1.SecretTypeDockercfg && len(data[corev1.DockerConfigKey]) > 0:
		return decode[map[string]entry](data[corev1.DockerConfigKey])
	}
	return nil, nil
}

// config is a docker config.json; a .dockercfg has only its auths.
type config struct {
	Auths map[string]entry `json:"auths"`
	// CredsStore and CredHelpers name programs docker-credential-…, one for all registries and one for each.
	CredsStore  string            `json:"credsStore"`
	CredHelpers map[string]string `json:"credHelpers"`
}

type entry struct {
	Username      string `json:"username"`
	Password      string `json:"password"`
	Auth          string `json:"auth"`
	IdentityToken string `json:"identitytoken"`
}

// decode does not repeat the decoder's error, which quotes the input.
func decode[T any](data []byte) (T, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return v, errors.New("not the JSON of a docker config")
	}
	return v, nil
}

func (k *Keyring) addAll(from string, entries map[string]entry) error {
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		c, err := entries[key].credential(from)
		if err != nil {
			return fmt.Errorf("entry %q: %w", withoutUser(key), err)
		}
		if c != nil {
			k.Add(key, *c)
		}
	}
	return nil
}

// credential returns nil for an empty entry: docker writes one if a helper program keeps the secret.
func (e entry) credential(from string) (*Credential, error) {
	if e.Auth != "" {
		user, password, err := decodeAuth(e.Auth)
		if err != nil {
			return nil, err
		}
		e.Username, e.Password = user, password
	}
	switch {
	case e.IdentityToken != "":
		c := IdentityToken(from, e.IdentityToken)
		return &c, nil
	case e.Username != "" || e.Password != "":
		c := Password(from, e.Username, e.Password)
		return &c, nil
	}
	return nil, nil
}

// decodeAuth decodes base64(user:password), padded or not.
func decodeAuth(auth string) (user, password string, err error) {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(auth), "="))
	if err == nil {
		// Docker may have written NULs at the end.
		user, password, ok := strings.Cut(strings.TrimRight(string(b), "\x00"), ":")
		if ok {
			return user, password, nil
		}
	}
	return "", "", errors.New("auth is not base64 of user:password")
}

// withoutUser removes the user and password from https://user:password@host, for messages.
func withoutUser(key string) string {
	if i := strings.LastIndex(key, "@"); i >= 0 {
		return key[i+1:]
	}
	return key
}
