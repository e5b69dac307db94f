package host

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/diskusage"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// measure runs in the host because the control plane may not read files that belong to users of a user namespace.
func (h *Host) measure(ids []runtime.ID, dirs []string) (runtime.Usage, error) {
	usage := runtime.Usage{}
	for _, id := range ids {
		dir, err := h.openWritten(id)
		bytes, err := measureDir(dir, err)
		if err != nil {
			return usage, err
		}
		usage.Roots = append(usage.Roots, bytes)
	}
	for _, path := range dirs {
		dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		bytes, err := measureDir(dir, err)
		if err != nil {
			return usage, err
		}
		usage.Dirs = append(usage.Dirs, bytes)
	}
	return usage, nil
}

// openWritten opens what a container has written to its root file system.
func (h *Host) openWritten(id runtime.ID) (*os.File, error) {
	h.mu.Lock()
	e := h.entries[id]
	h.mu.Unlock()
	if e == nil {
		return nil, os.ErrNotExist
	}
	// Under the lock, so that the directory is not given to another container meanwhile.
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.process == nil {
		return nil, os.ErrNotExist
	}
	return e.process.OpenWritten()
}

// measureDir measures and closes dir. Where opening it failed with err because it does not exist or may not be read, its
// size is 0.
func measureDir(dir *os.File, err error) (int64, error) {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	return diskusage.Of(dir)
}
