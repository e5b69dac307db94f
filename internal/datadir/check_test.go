package datadir

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCheck(t *testing.T) {
	const (
		dir  = unix.S_IFDIR
		reg  = unix.S_IFREG
		fifo = unix.S_IFIFO
		link = unix.S_IFLNK
	)
	user := self{uid: 1000, ownGroup: 1000, unmapped: -1}
	inContainer := self{uid: 1000, ownGroup: -1, unmapped: 65534}
	at := func(path string, r role, uid, gid int, mode uint32) entry {
		return entry{path, r, uid, gid, mode, strings.HasPrefix(path, "/d/pki") || path == "/d/kubeconfig"}
	}
	for sentence, test := range map[string]struct {
		me   self
		seen entry
		// want is in the error, warn in the warning.
		want, warn string
	}{
		"its own":                                  {user, at("/d", itself, 1000, 1000, dir|0o700), "", ""},
		"open to readers, as systemd makes it":     {user, at("/d", itself, 1000, 1000, dir|0o755), "", ""},
		"made by root":                             {user, at("/d", itself, 0, 0, dir|0o755), "", ""},
		"another user's":                           {user, at("/d", itself, 1001, 1001, dir|0o700), "move this one away", ""},
		"open to all":                              {user, at("/d", itself, 1000, 1000, dir|0o777), "chmod o-w /d", ""},
		"open to all, and sticky":                  {user, at("/d", itself, 1000, 1000, dir|0o1777), "chmod o-w /d", ""},
		"made with umask 002":                      {user, at("/d", itself, 1000, 1000, dir|0o775), "", ""},
		"open to a group of several":               {user, at("/d", itself, 1000, 100, dir|0o775), "", "chmod g-w /d"},
		"in another user's":                        {user, at("/home/x", above, 1001, 1001, dir|0o755), "STINT_DATA_DIR", ""},
		"in one that is open to all":               {user, at("/srv", above, 0, 0, dir|0o777), "chmod o-w /srv", ""},
		"in one for all, where all keep their own": {user, at("/tmp", above, 0, 0, dir|0o1777), "", ""},
		"in one that is open to a group":           {user, at("/srv", above, 0, 50, dir|0o775), "", "chmod g-w /srv"},
		"in one that is open to root's group":      {user, at("/srv", above, 0, 0, dir|0o775), "", ""},
		"behind its own link":                      {user, at("/l", above, 1000, 1000, link|0o777), "", ""},
		"behind a link of another user":            {user, at("/tmp/l", above, 1001, 1001, link|0o777), "/tmp/l belongs to user 1001", ""},
		"a folder of another user":                 {user, at("/d/pki", folder, 1001, 1001, dir|0o700), "remove /d/pki and /d/kubeconfig", ""},
		"a folder that is a link":                  {user, at("/d/pods", folder, 1000, 1000, link|0o777), "symbolic link", ""},
		"a key":                                    {user, at("/d/pki/ca.key", secret, 1000, 1000, reg|0o600), "", ""},
		"a key that all can read":                  {user, at("/d/pki/ca.key", secret, 1000, 1000, reg|0o644), "chmod 600 /d/pki/ca.key", ""},
		"a key that a group can read":              {user, at("/d/pki/ca.key", secret, 1000, 1000, reg|0o640), "remove /d/pki and /d/kubeconfig", ""},
		"a key of another user":                    {user, at("/d/pki/ca.key", secret, 1001, 1001, reg|0o600), "remove /d/pki and /d/kubeconfig", ""},
		"a key that is a link":                     {user, at("/d/pki/token", secret, 1000, 1000, link|0o777), "symbolic link", ""},
		"a certificate of another user":            {user, at("/d/pki/ca.crt", file, 1001, 1001, reg|0o644), "remove /d/pki and /d/kubeconfig", ""},
		"a kubeconfig of another user":             {user, at("/d/kubeconfig", secret, 1001, 1001, reg|0o600), "remove /d/pki and /d/kubeconfig", ""},
		"a store of another user":                  {user, at("/d/etcd", folder, 1001, 1001, dir|0o700), "move this one away", ""},
		"a log of another user in its own store":   {user, at("/d/etcd/member/wal/0.wal", file, 1001, 1001, reg|0o600), "move this one away", ""},
		"a FIFO in its store":                      {user, at("/d/etcd/member/snap/db", file, 1000, 1000, fifo|0o600), "STINT_DATA_DIR, or move this one away", ""},
		"a file that all may write":                {user, at("/d/node-name", file, 1000, 1000, reg|0o666), "chmod o-w /d/node-name", ""},
		"its own, whose owner is not mapped":       {inContainer, at("/d", itself, 65534, 65534, dir|0o700), "belongs to user 65534", ""},
		"in a directory whose owner is not mapped": {inContainer, at("/", above, 65534, 65534, dir|0o755), "", ""},
		"in one of user 65534's, with all mapped":  {user, at("/x", above, 65534, 65534, dir|0o755), "belongs to user 65534", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			warnings, err := check("/d", test.me, []entry{test.seen})
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "chown") {
				t.Errorf("%v: what another user has put there would be believed", err)
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
