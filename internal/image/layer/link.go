package layer

import (
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// link makes p another name of target. It is false if there is no target.
func (r *root) link(p, target string) (bool, error) {
	from, err := r.existing(path.Dir(target))
	if err != nil || from == nil {
		return false, err
	}
	defer from.Close()
	name := path.Base(target)
	s, there, err := stat(from, name)
	switch {
	case err != nil || !there:
		return false, err
	case isDir(s):
		return false, fmt.Errorf("its target %q is a directory", target)
	}
	dir, to, err := r.parent(p)
	if err != nil {
		return false, err
	}
	if same, err := isSame(dir, to, s); same || err != nil {
		return same, err
	}
	if err := r.makeRoom(dir, to); err != nil {
		return false, err
	}
	return true, unix.Linkat(int(from.Fd()), name, int(dir.Fd()), to, 0)
}

// isSame reports whether name in dir is the file of s already.
func isSame(dir *os.File, name string, s unix.Stat_t) (bool, error) {
	there, ok, err := stat(dir, name)
	return ok && there.Dev == s.Dev && there.Ino == s.Ino, err
}

// existing opens a directory, which is nil if it is not there.
func (r *root) existing(p string) (*os.File, error) {
	fd, err := unix.Openat2(int(r.dir.Fd()), p, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("open the directory /%s: %w", p, err)
	}
	return os.NewFile(uintptr(fd), p), nil
}
