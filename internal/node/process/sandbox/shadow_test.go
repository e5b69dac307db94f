package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What others make and remove in a directory of the machine, /run say, is no fault of a container.
func TestAnEntryThatGoesWhileItIsBoundBackIsLeftOut(t *testing.T) {
	for name, makeAt := range map[string]func(path string) error{
		"a directory":     func(path string) error { return os.Mkdir(path, 0o755) },
		"a file":          makeFile,
		"a symbolic link": func(path string) error { return os.Symlink("nowhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
			if err := makeAt(from); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(from)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(from); err != nil {
				t.Fatal(err)
			}
			err = bindEntry(info, from, to)
			if errors.Is(err, unix.EPERM) {
				t.Skip("only root can mount")
			}
			if err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(to); !os.IsNotExist(err) {
				t.Errorf("something is left of it (%v)", err)
			}
		})
	}
}
