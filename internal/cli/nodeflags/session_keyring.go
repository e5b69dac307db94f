package nodeflags

import (
	"github.com/spf13/pflag"

	"github.com/stint-dev/stint/internal/cli/command"
)

// SessionKeyring is the flag --session-keyring, which says what containers have as their session keyring.
type SessionKeyring string

const (
	newKeyring  SessionKeyring = "new"
	keepKeyring SessionKeyring = "keep"
)

// Add defines the flag.
func (k *SessionKeyring) Add(flags *pflag.FlagSet) {
	flags.StringVar((*string)(k), "session-keyring", string(newKeyring),
		"new gives each container a session keyring of its own; keep leaves processes of this user's without image those keys that "+
			"this shell has, such as Kerberos tickets")
}

// Keep reports whether containers keep the session keyring of this process.
func (k SessionKeyring) Keep() (bool, error) {
	switch k {
	case newKeyring, "":
		return false, nil
	case keepKeyring:
		return true, nil
	}
	return false, command.BadInputf("--session-keyring %q: write new or keep", string(k))
}
