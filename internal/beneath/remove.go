package beneath

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filetree"
)

// maxDepth bounds how many directories are open at a time. Directories that are deeper are moved to the top first, where the next pass
// finds them, or the next removal if this one ends before that.
const maxDepth = 64

// batch is how many names of a directory are read at a time.
const batch = 1024

type removal struct {
	ctx context.Context
	// top is the directory that is removed.
	top *os.File
}

func (r *removal) remove(parent *os.File, name string, depth int) error {
	err := unix.Unlinkat(int(parent.Fd()), name, 0)
	switch {
	case err == nil || errors.Is(err, unix.ENOENT):
		return nil
	case !errors.Is(err, unix.EISDIR):
		return failed("remove", parent, name, err)
	case depth == maxDepth:
		return r.moveUp(parent, name)
	}
	if err := r.empty(parent, name, depth+1); err != nil {
		return err
	}
	if err := unix.Unlinkat(int(parent.Fd()), name, unix.AT_REMOVEDIR); err != nil && !errors.Is(err, unix.ENOENT) {
		return failed("remove", parent, name, err)
	}
	return nil
}

func (r *removal) empty(parent *os.File, name string, depth int) error {
	dir, err := openDir(parent, name)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	if r.top == nil {
		r.top = dir
	}
	for {
		removed, err := r.pass(dir, depth)
		if err != nil || removed == 0 {
			return err
		}
	}
}

// pass reads a directory once, to its end, and removes what it finds. A directory that is changed while it is read may hide entries, for
// the next pass.
func (r *removal) pass(dir *os.File, depth int) (removed int, err error) {
	if _, err := dir.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	for {
		names, err := dir.Readdirnames(batch)
		if errors.Is(err, io.EOF) || errors.Is(err, unix.ENOENT) {
			return removed, nil
		}
		if err != nil {
			return removed, err
		}
		for _, name := range names {
			if err := r.ctx.Err(); err != nil {
				return removed, err
			}
			if err := r.remove(dir, name, depth); err != nil {
				return removed, err
			}
			removed++
		}
	}
}

func (r *removal) moveUp(parent *os.File, name string) error {
	// It must be writable as well, because its parent directory changes.
	dir, err := openDir(parent, name)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	free := ".removed-" + rand.Text()
	err = unix.Renameat2(int(parent.Fd()), name, int(r.top.Fd()), free, unix.RENAME_NOREPLACE)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return failed("move", parent, name, err)
	}
	return nil
}

// openDir opens the directory of that name for its removal. It fails if something is mounted there.
func openDir(parent *os.File, name string) (*os.File, error) {
	place, err := filetree.Open(parent, name, unix.O_PATH|unix.O_DIRECTORY)
	switch {
	case errors.Is(err, unix.EXDEV):
		return nil, fmt.Errorf("%s is left as it is: something is mounted there; unmount it", filepath.Join(parent.Name(), name))
	case err != nil:
		return nil, failed("open", parent, name, err)
	}
	defer place.Close()
	// A directory that its owner may not read or write must be removed as well. If it belongs to another user, the kernel
	// decides.
	var stat unix.Stat_t
	if err := unix.Fstat(int(place.Fd()), &stat); err == nil && stat.Mode&0o700 != 0o700 {
		_ = os.Chmod(fmt.Sprintf("/proc/self/fd/%d", place.Fd()), 0o700)
	}
	fd, err := unix.Openat(int(place.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, failed("open", parent, name, err)
	}
	return os.NewFile(uintptr(fd), filepath.Join(parent.Name(), name)), nil
}

func openAt(parent *os.File, name string, flags int) (*os.File, error) {
	fd, err := unix.Openat(int(parent.Fd()), name, flags, 0)
	if err != nil {
		return nil, failed("open", parent, name, err)
	}
	return os.NewFile(uintptr(fd), filepath.Join(parent.Name(), name)), nil
}

func failed(op string, parent *os.File, name string, err error) error {
	return &os.PathError{Op: op, Path: filepath.Join(parent.Name(), name), Err: err}
}
