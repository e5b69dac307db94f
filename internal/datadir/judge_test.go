package datadir

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestJudge(t *testing.T) {
	const (
		dir  = unix.S_IFDIR
		file = unix.S_IFREG
		link = unix.S_IFLNK
	)
	user := self{uid: 1000, ownGroup: 1000, unmapped: -1}
	inContainer := self{uid: 1000, ownGroup: -1, unmapped: 65534}
	for sentence, test := range map[string]struct {
		me   self
		seen entry
		// want is in the error, warn in the warning.
		want, warn string
	}{
		"its own":                                  {user, entry{"/d", itself, 1000, 1000, dir | 0o700}, "", ""},
		"open to readers, as systemd makes it":     {user, entry{"/d", itself, 1000, 1000, dir | 0o755}, "", ""},
		"made by root":                             {user, entry{"/d", itself, 0, 0, dir | 0o755}, "", ""},
		"another user's":                           {user, entry{"/d", itself, 1001, 1001, dir | 0o700}, "or: chown -R 1000 /d", ""},
		"open to all":                              {user, entry{"/d", itself, 1000, 1000, dir | 0o777}, "chmod 700 /d", ""},
		"open to all, and sticky":                  {user, entry{"/d", itself, 1000, 1000, dir | 0o1777}, "chmod 700 /d", ""},
		"made with umask 002":                      {user, entry{"/d", itself, 1000, 1000, dir | 0o775}, "", ""},
		"open to a group of several":               {user, entry{"/d", itself, 1000, 100, dir | 0o775}, "", "chmod g-w /d"},
		"in another user's":                        {user, entry{"/home/x", above, 1001, 1001, dir | 0o755}, "choose another data directory", ""},
		"in one that is open to all":               {user, entry{"/srv", above, 0, 0, dir | 0o777}, "chmod o-w /srv", ""},
		"in one for all, where all keep their own": {user, entry{"/tmp", above, 0, 0, dir | 0o1777}, "", ""},
		"in one that is open to a group":           {user, entry{"/srv", above, 0, 50, dir | 0o775}, "", "chmod g-w /srv"},
		"in one that is open to root's group":      {user, entry{"/srv", above, 0, 0, dir | 0o775}, "", ""},
		"behind its own link":                      {user, entry{"/l", above, 1000, 1000, link | 0o777}, "", ""},
		"behind a link of another user":            {user, entry{"/tmp/l", above, 1001, 1001, link | 0o777}, "/tmp/l belongs to user 1001", ""},
		"a folder of another user":                 {user, entry{"/d/pki", folder, 1001, 1001, dir | 0o700}, "chown -R 1000 /d", ""},
		"a folder that is a link":                  {user, entry{"/d/pods", folder, 1000, 1000, link | 0o777}, "symbolic link", ""},
		"a key":                                    {user, entry{"/d/pki/ca.key", secret, 1000, 1000, file | 0o600}, "", ""},
		"a key that all can read":                  {user, entry{"/d/pki/ca.key", secret, 1000, 1000, file | 0o644}, "chmod 600 /d/pki/ca.key", ""},
		"a key that a group can read":              {user, entry{"/d/pki/ca.key", secret, 1000, 1000, file | 0o640}, "remove /d/pki and /d/kubeconfig", ""},
		"a key of another user":                    {user, entry{"/d/pki/ca.key", secret, 1001, 1001, file | 0o600}, "chown -R 1000 /d", ""},
		"a key that is a link":                     {user, entry{"/d/pki/token", secret, 1000, 1000, link | 0o777}, "symbolic link", ""},
		"in a directory whose owner is not mapped": {inContainer, entry{"/", above, 65534, 65534, dir | 0o755}, "", ""},
		"in one of nobody's, where all are mapped": {user, entry{"/x", above, 65534, 65534, dir | 0o755}, "belongs to user 65534", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			warnings, err := judge("/d", test.me, []entry{test.seen})
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if text := strings.Join(warnings, "; "); (text != "") != (test.warn != "") || !strings.Contains(text, test.warn) {
				t.Errorf("warnings %q, want one with %q", text, test.warn)
			}
		})
	}
}

func TestMapsAll(t *testing.T) {
	for text, want := range map[string]bool{
		"         0          0 4294967295\n":                        true,
		"      1000       1000          1\n":                        false,
		"         0       1000          1\n         1 100000 65536": false,
		"": false,
	} {
		if got := mapsAll(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
