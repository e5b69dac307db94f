package layer

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/beneath"
)

// root is a directory that stands for the root of a file system.
type root struct {
	dir *os.File
	// implied is told of the directories that are made because something is below them.
	implied func(path string)
	// put gives a file another name, as in to, which is at p.
	put func(from *os.File, name string, to *os.File, as, p string) error
	// last is the directory that was looked up last: archives go from one directory to the next.
	last     *os.File
	lastPath string
}

func (r *root) close() {
	if r.last != nil {
		r.last.Close()
		r.last = nil
	}
}

// maxLinks is how many symbolic links a lookup follows, as many as the kernel does.
const maxLinks = 40

// clean makes a name of an archive a path below the root, "." for the root itself.
func clean(name string) (string, error) {
	if strings.ContainsRune(name, 0) {
		return "", errors.New("a name with a zero byte")
	}
	p := path.Clean(strings.TrimLeft(name, "/"))
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", errors.New("a name that leads out of the layer")
	}
	return p, nil
}

// directory opens the directory at p, which is clean, following links inside the root. What is missing is made. It stays
// open until the next call.
func (r *root) directory(p string) (*os.File, error) {
	if r.last != nil && r.lastPath == p {
		return r.last, nil
	}
	links := 0
	dir, err := r.open(p, &links)
	if err != nil {
		return nil, err
	}
	r.close()
	r.last, r.lastPath = dir, p
	return dir, nil
}

// forget has the next lookup begin anew, for something that it may lead through was replaced. The directory stays open.
func (r *root) forget() { r.lastPath = "" }

func (r *root) open(p string, links *int) (*os.File, error) {
	dir, err := r.lookUp(p, unix.O_RDONLY|unix.O_DIRECTORY)
	if err == nil {
		return dir, nil
	}
	if !errors.Is(err, unix.ENOENT) {
		return nil, fmt.Errorf("open the directory /%s: %w", p, err)
	}
	return r.make(p, links)
}

// lookUp opens p, following links inside the root.
func (r *root) lookUp(p string, flags uint64) (*os.File, error) {
	return beneath.OpenInRoot(int(r.dir.Fd()), p, flags)
}

// make makes a directory that a lookup did not find, or the one that a link in its place leads to.
func (r *root) make(p string, links *int) (*os.File, error) {
	parent, err := r.open(path.Dir(p), links)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	err = makeDir(parent, path.Base(p))
	switch {
	case err == nil:
		if r.implied != nil {
			r.implied(p)
		}
	case !errors.Is(err, unix.EEXIST):
		return nil, fmt.Errorf("make the directory /%s: %w", p, err)
	default:
		target, err := readLink(parent, path.Base(p))
		if err != nil {
			return nil, fmt.Errorf("open the directory /%s: %w", p, err)
		}
		if *links++; *links > maxLinks {
			return nil, fmt.Errorf("open the directory /%s: %w", p, unix.ELOOP)
		}
		if !path.IsAbs(target) {
			target = path.Join("/", path.Dir(p), target)
		}
		// In the root, what leads out of it leads to it.
		if target, err = clean(path.Clean(target)); err != nil {
			return nil, err
		}
		return r.open(target, links)
	}
	return r.open(p, links)
}

// makeDir makes a directory that all may read, whatever the process's mask and the group bit of dir.
func makeDir(dir *os.File, name string) error {
	return keepTime(dir, func() error {
		if err := unix.Mkdirat(int(dir.Fd()), name, 0o755); err != nil {
			return err
		}
		return unix.Fchmodat(int(dir.Fd()), name, 0o755, 0)
	})
}

// claim gives a directory the group of the caller. That of the directory above may be one that the user namespace does not have,
// and a set-group-ID bit would hand it on to all that is made.
func claim(dir *os.File) error {
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

// keepTime changes what is in a directory, the time of which is what its layer says and not that of the change.
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

// parent opens the directory that p is in and returns the last element of p.
func (r *root) parent(p string) (*os.File, string, error) {
	if p == "." {
		return nil, "", errors.New("it would take the place of the root directory")
	}
	dir, err := r.directory(path.Dir(p))
	return dir, path.Base(p), err
}

// stat tells of name in dir, whatever it is; ok is false if it is not there.
func stat(dir *os.File, name string) (s unix.Stat_t, ok bool, err error) {
	err = unix.Fstatat(int(dir.Fd()), name, &s, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return s, false, nil
	}
	return s, err == nil, err
}

func isDir(s unix.Stat_t) bool { return s.Mode&unix.S_IFMT == unix.S_IFDIR }

// makeRoom removes what is at name in dir.
func (r *root) makeRoom(dir *os.File, name string) error {
	s, there, err := stat(dir, name)
	if err != nil || !there {
		return err
	}
	r.forget()
	if !isDir(s) {
		return unix.Unlinkat(int(dir.Fd()), name, 0)
	}
	return beneath.At(dir).Remove(name)
}
