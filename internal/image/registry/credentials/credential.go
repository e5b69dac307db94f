package credentials

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"
)

// Credential is a user and password, or a token. Printing it shows where it is from and nothing else.
type Credential struct {
	// From says where the credential was found, for messages.
	From string

	config authn.AuthConfig
}

// Password is the credential of a user with a password.
func Password(from, user, password string) Credential {
	return Credential{From: from, config: authn.AuthConfig{Username: user, Password: password}}
}

// IdentityToken is the credential that a login with a token has returned. It is exchanged for access tokens of the registry.
func IdentityToken(from, token string) Credential {
	return Credential{From: from, config: authn.AuthConfig{IdentityToken: token}}
}

// Authenticator returns the credential for use with a registry.
func (c Credential) Authenticator() authn.Authenticator { return authn.FromConfig(c.config) }

// Complete reports whether the credential can be sent: a user without a password cannot.
func (c Credential) Complete() bool {
	return c.config.IdentityToken != "" || c.config.Username != "" && c.config.Password != ""
}

// String implements fmt.Stringer without the secret.
func (c Credential) String() string { return "credential from " + c.From }

// Format prints the same for every verb, without the secret.
func (c Credential) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

// Keychain finds the credentials for a repository such as docker.io/library/perl, in the order to try them.
//
// Credentials that are returned with an error are valid: the error, such as a missing helper program, matters only if the
// registry denies access.
type Keychain interface {
	Find(ctx context.Context, repository string) ([]Credential, error)
}

// Chain asks several keychains in turn.
type Chain []Keychain

// Find implements Keychain.
func (c Chain) Find(ctx context.Context, repository string) ([]Credential, error) {
	var found []Credential
	var problems []error
	for _, k := range c {
		if k == nil {
			continue
		}
		more, err := k.Find(ctx, repository)
		found = append(found, more...)
		problems = append(problems, err)
	}
	return found, errors.Join(problems...)
}
