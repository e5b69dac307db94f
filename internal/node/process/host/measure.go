package host

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/diskusage"
	"github.com/stint-dev/stint/internal/node/process/sandbox"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// measure runs in the host because the control plane may not read files that belong to users of a user namespace.
func (h *Host) measure(ctx context.Context, ids []runtime.ID, dirs []string) (runtime.Usage, error) {
	usage := runtime.Usage{}
	for _, id := range ids {
		dir, err := h.openWritten(id)
		bytes, err := measureDir(ctx, dir, err)
		if err != nil {
			return usage, err
		}
		usage.Roots = append(usage.Roots, bytes)
	}
	for _, path := range dirs {
		dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		bytes, err := measureDir(ctx, dir, err)
		if err != nil {
			return usage, err
		}
		usage.Dirs = append(usage.Dirs, bytes)
	}
	return usage, nil
}

func (h *Host) resourceUsage(ids []runtime.ID) []runtime.ResourceUsage {
	usage := make([]runtime.ResourceUsage, len(ids))
	for i, id := range ids {
		h.withProcess(id, func(p *sandbox.Process) { usage[i] = p.ResourceUsage() })
	}
	return usage
}

// openWritten opens what a container has written to its root file system.
func (h *Host) openWritten(id runtime.ID) (dir *os.File, err error) {
	err = os.ErrNotExist
	h.withProcess(id, func(p *sandbox.Process) { dir, err = p.OpenWritten() })
	return dir, err
}

// withProcess calls use unless the attempt does not run. Meanwhile nothing that the process has is given to another container.
func (h *Host) withProcess(id runtime.ID, use func(*sandbox.Process)) {
	h.mu.Lock()
	e := h.entries[id]
	h.mu.Unlock()
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.process != nil {
		use(e.process)
	}
}

// measureDir measures and closes dir. Where opening it failed with err because it does not exist or may not be read, its
// size is 0.
func measureDir(ctx context.Context, dir *os.File, err error) (int64, error) {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	return diskusage.Of(ctx, dir)
}
