package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/server"
)

// A user who writes keys and a token into the data directory of root's server could run pods as root.
func TestADataDirectoryThatCannotBeTrustedIsRefused(t *testing.T) {
	for sentence, test := range map[string]struct {
		spoil func(dir string) error
		want  string
	}{
		"it is another user's":           {func(dir string) error { return os.Chown(dir, 12345, 12345) }, "belongs to user 12345"},
		"it is open to all":              {func(dir string) error { return os.Chmod(dir, 0o777) }, "chmod o-w"},
		"it is in one that is open":      {func(dir string) error { return os.Chmod(filepath.Dir(dir), 0o777) }, "chmod o-w"},
		"a key was readable":             {func(dir string) error { return os.Chmod(filepath.Join(dir, "pki", "admin.key"), 0o644) }, "makes new ones"},
		"its token is another user's":    {func(dir string) error { return os.Chown(filepath.Join(dir, "pki", "token"), 12345, -1) }, "belongs to user 12345"},
		"its store is another user's":    {func(dir string) error { return os.Chown(filepath.Join(dir, "etcd"), 12345, -1) }, "belongs to user 12345"},
		"its volumes are somewhere else": {func(dir string) error { return link(filepath.Join(dir, "pods")) }, "symbolic link"},
		"its lock is a link":             {func(dir string) error { return link(filepath.Join(dir, "lock")) }, "lock"},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			_, stop := start(t, server.Options{DataDir: dir, Listen: "127.0.0.1:0"})
			stop()
			if err := test.spoil(dir); os.IsPermission(err) {
				t.Skip("needs root to give files away")
			} else if err != nil {
				t.Fatal(err)
			}
			for _, readOnly := range []bool{false, true} {
				_, stop, err := tryToStart(t, server.Options{DataDir: dir, ReadOnly: readOnly})
				if err == nil {
					stop()
				}
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("read-only %t: started with %v, want %q", readOnly, err, test.want)
				}
			}
		})
	}
}

// link replaces a path by a link to a file outside.
func link(path string) error {
	decoy := path + "-decoy"
	if err := os.WriteFile(decoy, nil, 0o600); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Symlink(decoy, path)
}

// The data directory may be readable for others, as systemd creates it.
func TestWhatIsInADataDirectoryIsClosed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for _, name := range []string{".", "pods", "logs"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	_, stop := start(t, server.Options{DataDir: dir, Listen: "127.0.0.1:0"})
	stop()
	for _, name := range []string{"pods", "logs", "etcd", "pki"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
