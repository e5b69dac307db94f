package env_test

import (
	"os/user"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/node/env"
)

func TestAnotherUsersContainerGetsNothingOfTheServersOwnUser(t *testing.T) {
	server := []string{
		"PATH=/root/bin", "HOME=/root", "USER=root", "TMPDIR=/root/tmp", "LANG=C", "LC_ALL=C", "TZ=UTC",
		"LOGNAME=root", "SHELL=/bin/sh", "MAIL=/var/mail/root", "TOKEN=secret", "SSH_AUTH_SOCK=/root/agent",
	}
	resolver := env.Resolver{Base: env.Base(server)}
	for sentence, c := range map[string]struct {
		account *user.User
		want    []string
	}{
		"a user of the machine has a home":          {&user.User{Username: "web", HomeDir: "/srv/web"}, []string{"HOME=/srv/web", "USER=web"}},
		"a user that the machine does not know not": {nil, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			want := append([]string{"LANG=C", "LC_ALL=C", "TZ=UTC"}, c.want...)
			got := resolver.As(c.account).Environ(&env.Vars{}, "pod")
			if diff := cmp.Diff(append(want, "HOSTNAME=pod"), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
