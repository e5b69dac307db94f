package beneath

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// maxDepth bounds how many directories are open at a time. Directories that are deeper are moved to the top first.
const maxDepth = 64

// batch is how many names of a directory are read at a time.
const batch = 1024

type removal struct {
	top *os.File
	// moved are entries of top that were moved there because they were too deep.
	moved []string
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
	for {
		// From the start each time, because a directory that is changed while it is read may hide entries.
		if _, err := dir.Seek(0, io.SeekStart); err != nil {
			return err
		}
		names, err := dir.Readdirnames(batch)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := r.remove(dir, name, depth); err != nil {
				return err
			}
		}
	}
}

func (r *removal) moveUp(parent *os.File, name string) error {
	free := ".removed-" + rand.Text()
	err := unix.Renameat2(int(parent.Fd()), name, int(r.top.Fd()), free, unix.RENAME_NOREPLACE)
	if err != nil {
		return failed("move", parent, name, err)
	}
	r.moved = append(r.moved, free)
	return nil
}

// openDir opens the directory of that name for its removal. It fails if something is mounted there.
func openDir(parent *os.File, name string) (*os.File, error) {
	const found = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	place, err := openAt(parent, name, unix.O_PATH|found)
	if err != nil {
		return nil, err
	}
	defer place.Close()
	if err := sameMount(parent, place); err != nil {
		return nil, err
	}
	// A directory that its owner may not read or write must be removed as well. If it belongs to another user, the kernel
	// decides.
	var stat unix.Stat_t
	if err := unix.Fstat(int(place.Fd()), &stat); err == nil && stat.Mode&0o700 != 0o700 {
		_ = os.Chmod(fmt.Sprintf("/proc/self/fd/%d", place.Fd()), 0o700)
	}
	return openAt(place, ".", unix.O_RDONLY|found)
}

func openAt(parent *os.File, name string, flags int) (*os.File, error) {
	fd, err := unix.Openat(int(parent.Fd()), name, flags, 0)
	if err != nil {
		return nil, failed("open", parent, name, err)
	}
	return os.NewFile(uintptr(fd), filepath.Join(parent.Name(), name)), nil
}

// sameMount compares mount ids, because a bind mount of the same file system has the same device number.
func sameMount(parent, dir *os.File) error {
	theirs, err := mountOf(dir)
	if err != nil {
		return err
	}
	ours, err := mountOf(parent)
	if err != nil {
		return err
	}
	if theirs != ours {
		return fmt.Errorf("%s is left as it is: something is mounted there; unmount it", dir.Name())
	}
	return nil
}

func mountOf(f *os.File) (string, error) {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", f.Fd()))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(info)) {
		if id, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			return strings.TrimSpace(id), nil
		}
	}
	return "", fmt.Errorf("/proc does not say in which mount %s is", f.Name())
}

func failed(op string, parent *os.File, name string, err error) error {
	return &os.PathError{Op: op, Path: filepath.Join(parent.Name(), name), Err: err}
}
