package layer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/beneath"
)

// root is a directory that is used as the root of a file system.
type root struct {
	dir *os.File
	// implied is called for each directory that is created only because an entry is below it; nil for no call.
	implied func(path string)
	// put adds a file to the directory to under the name as; p is the path of the new name.
	put func(from *os.File, name string, to *os.File, as, p string) error
	// last is the directory that was looked up last, as the next entry of an archive is often in the same directory.
	last     *os.File
	lastPath string
	// steps is how many directories all walks together have entered; maxSteps bounds them.
	steps, maxSteps int
}

func (r *root) close() {
	if r.last != nil {
		r.last.Close()
		r.last = nil
	}
}

// clean returns the path below the root for a name in an archive; "." for the root itself.
func clean(name string) (string, error) {
	if strings.ContainsRune(name, 0) {
		return "", errors.New("a name with a zero byte")
	}
	p := path.Clean(strings.TrimLeft(name, "/"))
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", errors.New("a name that leads out of the layer")
	}
	if strings.Count(p, "/") > maxDepth {
		return "", errTooDeep
	}
	return p, nil
}

// directory opens the directory at p, a path from clean, following links inside the root. Missing directories are created.
// The directory stays open until the next call.
func (r *root) directory(p string) (*os.File, error) {
	if r.last != nil && r.lastPath == p {
		return r.last, nil
	}
	dir, err := r.open(p)
	if err != nil {
		return nil, err
	}
	r.close()
	r.last, r.lastPath = dir, p
	return dir, nil
}

// forget makes the next call of directory look up its path again, as part of it may have been replaced. The last directory
// stays open.
func (r *root) forget() { r.lastPath = "" }

// open is directory for a caller who closes the directory.
func (r *root) open(p string) (*os.File, error) {
	dir, err := r.lookUp(p)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) {
		dir, err = r.walk(p, true)
	}
	if err != nil {
		return nil, fmt.Errorf("open the directory /%s: %w", p, err)
	}
	return dir, nil
}

// existing opens a directory. It returns nil if there is none.
func (r *root) existing(p string) (*os.File, error) {
	dir, err := r.lookUp(p)
	if errors.Is(err, unix.ELOOP) {
		dir, err = r.walk(p, false)
	}
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("open the directory /%s: %w", p, err)
	}
	return dir, nil
}

// lookUp opens the directory at p. It fails with ELOOP if there is a link on the way.
func (r *root) lookUp(p string) (*os.File, error) {
	fd, err := unix.Openat2(int(r.dir.Fd()), p, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), p), nil
}

// makeDir creates a directory with the mode 0755, whatever the umask and the set-group-ID bit of dir.
func makeDir(dir *os.File, name string) error {
	return keepTime(dir, func() error {
		if err := unix.Mkdirat(int(dir.Fd()), name, 0o755); err != nil {
			return err
		}
		return unix.Fchmodat(int(dir.Fd()), name, 0o755, 0)
	})
}

// takeGroup gives a directory the group of the caller, and the mode 0755. Otherwise a set-group-ID bit of the directory above would
// give all new files its group, which the user namespace may not have.
func takeGroup(dir *os.File) error {
	var s unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &s); err != nil {
		return err
	}
	if int(s.Gid) != os.Getegid() {
		if err := dir.Chown(-1, os.Getegid()); err != nil {
			return err
		}
	}
	return dir.Chmod(0o755)
}

// keepTime calls change, which changes the content of dir, and then restores the time of dir: that is set by its layer.
func keepTime(dir *os.File, change func() error) error {
	var s unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &s); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	return setTime(dir, s.Mtim)
}

func setTime(dir *os.File, when unix.Timespec) error {
	return unix.UtimesNanoAt(int(dir.Fd()), ".", []unix.Timespec{when, when}, 0)
}

func readLink(dir *os.File, name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(dir.Fd()), name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// parent opens the directory that p is in, and returns the last element of p, too.
func (r *root) parent(p string) (*os.File, string, error) {
	if p == "." {
		return nil, "", errors.New("it would take the place of the root directory")
	}
	dir, err := r.directory(path.Dir(p))
	return dir, path.Base(p), err
}

// stat returns the status of name in dir, without following a link; ok is false if there is no such name.
func stat(dir *os.File, name string) (s unix.Stat_t, ok bool, err error) {
	err = unix.Fstatat(int(dir.Fd()), name, &s, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return s, false, nil
	}
	return s, err == nil, err
}

func isDir(s unix.Stat_t) bool { return s.Mode&unix.S_IFMT == unix.S_IFDIR }

// removeExisting removes name in dir, if it is there.
func (r *root) removeExisting(dir *os.File, name string) error {
	s, there, err := stat(dir, name)
	if err != nil || !there {
		return err
	}
	r.forget()
	if !isDir(s) {
		return unix.Unlinkat(int(dir.Fd()), name, 0)
	}
	return beneath.At(dir).Remove(context.Background(), name)
}
