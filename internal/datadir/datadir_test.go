package datadir_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/datadir"
)

func mkdir(t *testing.T, path string, mode fs.FileMode) string {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEveryDirectoryOfThePathIsChecked(t *testing.T) {
	base := t.TempDir()
	open := mkdir(t, filepath.Join(base, "open"), 0o777)
	closed := mkdir(t, filepath.Join(base, "closed"), 0o700)
	for name, target := range map[string]string{"absolute": filepath.Join(open, "data"), "relative": "open/data", "climbing": "closed/../open/data"} {
		if err := os.Symlink(target, filepath.Join(base, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("circle", filepath.Join(base, "circle")); err != nil {
		t.Fatal(err)
	}
	mkdir(t, filepath.Join(open, "data"), 0o700)
	for path, want := range map[string]string{
		filepath.Join(closed, "data"):                "",
		filepath.Join(closed, "not", "there", "yet"): "",
		filepath.Join(open, "data"):                  "any user may write to " + open,
		filepath.Join(open, "not", "there"):          "any user may write to " + open,
		filepath.Join(base, "absolute"):              "any user may write to " + open,
		filepath.Join(base, "relative"):              "any user may write to " + open,
		filepath.Join(base, "climbing"):              "any user may write to " + open,
		filepath.Join(base, "circle", "data"):        "too many levels of symbolic links",
		open:                                         "chmod o-w " + open,
	} {
		_, err := datadir.Check(path)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestADirectoryOfAnotherUserIsRefusedThoughItCannotBeRead(t *testing.T) {
	dir := mkdir(t, filepath.Join(t.TempDir(), "data"), 0o700)
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Skipf("needs root to give a directory away: %v", err)
	}
	if _, err := datadir.Check(dir); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
		t.Errorf("%v", err)
	}
}

func TestMakeClosesWhatIsOpen(t *testing.T) {
	dir := mkdir(t, filepath.Join(t.TempDir(), "data"), 0o755)
	mkdir(t, filepath.Join(dir, datadir.Pods), 0o755)
	mkdir(t, filepath.Join(dir, datadir.Logs), 0o755)
	old := unix.Umask(0)
	_, err := datadir.Make(dir)
	unix.Umask(old)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{".": 0o755, "pods": 0o700, "logs": 0o700, "etcd": 0o700, "pki": 0o700, "persistentvolumes": 0o700} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "pods")), os.Rename(filepath.Join(dir, "x"), filepath.Join(dir, "pods"))); err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.Make(dir); err == nil {
		t.Error("a link was followed")
	}
}

func TestWhatIsNoFileIsNamedAndNotWaitedFor(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"a FIFO":             func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a link to a device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a link to a file":   func(path string) error { return os.Symlink("/etc/passwd", path) },
		"a link to nothing":  func(path string) error { return os.Symlink("/nowhere/at/all", path) },
		"a directory":        func(path string) error { return os.Mkdir(path, 0o700) },
		"a socket":           func(path string) error { return unix.Mknod(path, unix.S_IFSOCK|0o600, 0) },
		"a file without end": func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "token")
			if err := plant(path); err != nil {
				t.Fatal(err)
			}
			if _, err := datadir.ReadFile(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove it") {
				t.Errorf("read with %v", err)
			}
			if name == "a file without end" {
				return
			}
			for _, flags := range []int{os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
				if f, err := datadir.Open(path, flags); err == nil {
					f.Close()
					t.Errorf("opened with %x", flags)
				}
			}
		})
	}
}
