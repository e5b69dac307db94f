// Package filetree visits all files below a directory, which containers may have made and may change meanwhile.
//
// Names are looked up one by one from an open directory, so that no link is followed and paths may have any length. Only one
// directory is open at a time, however deep it is. What is mounted below the directory is left out.
package filetree

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// batch is how many names of a directory are read at a time.
const batch = 1024

// Walk says what is done with the files of a tree.
type Walk struct {
	// Visit is called once for each file, with its name in the open directory. A directory has the name "." and is open itself; it is
	// visited before what is in it. Something may be mounted on a file, and it may be another one by now: Open opens no such file.
	Visit func(dir *os.File, name string, stat *unix.Stat_t) error
	// SkipDenied leaves out directories that this process may not read. Otherwise they end the walk.
	SkipDenied bool
}

// Below visits all that is below top, but not top itself. It returns the error of ctx when that ends, and the first one of Visit.
// What is removed or moved away meanwhile may be left out.
func (v Walk) Below(ctx context.Context, top *os.File) error {
	w := walk{Walk: v, top: top}
	defer func() { w.here.Close() }()
	return w.run(ctx)
}

// walk keeps only the current directory open.
type walk struct {
	Walk
	top, here *os.File
	// levels lead from top to here.
	levels []level
}

type level struct {
	name string
	self inode
	// below are the directories in it that are still to be visited.
	below []string
}

type inode struct{ device, number uint64 }

func inodeOf(stat *unix.Stat_t) inode { return inode{uint64(stat.Dev), stat.Ino} }

func (w *walk) run(ctx context.Context) error {
	here, err := Open(w.top, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	self, err := w.move(here)
	if err == nil {
		err = w.enter(ctx, level{name: ".", self: inodeOf(self)})
	}
	for err == nil && len(w.levels) > 0 {
		err = w.step(ctx)
	}
	return err
}

// step visits one more directory, or leaves this one if all that is below it has been visited.
func (w *walk) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	last := &w.levels[len(w.levels)-1]
	if len(last.below) == 0 {
		w.levels = w.levels[:len(w.levels)-1]
		return w.back()
	}
	name := last.below[len(last.below)-1]
	last.below = last.below[:len(last.below)-1]
	next, err := Open(w.here, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return w.leftOut(err)
	}
	self, err := w.move(next)
	if err == nil {
		err = w.Visit(next, ".", self)
	}
	if err != nil {
		return err
	}
	return w.enter(ctx, level{name: name, self: inodeOf(self)})
}

// leftOut returns nil if a directory that cannot be opened is left out.
func (w *walk) leftOut(err error) error {
	if IsElsewhere(err) || w.SkipDenied && errors.Is(err, os.ErrPermission) {
		return nil
	}
	return err
}

// enter visits the entries of the directory that is open, except directories, which it adds to its level.
func (w *walk) enter(ctx context.Context, l level) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		names, err := w.here.Readdirnames(batch)
		for _, name := range names {
			if err := w.entry(&l, name); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, unix.ENOENT) {
			break
		}
		if err != nil {
			return err
		}
	}
	w.levels = append(w.levels, l)
	return nil
}

func (w *walk) entry(l *level, name string) error {
	var stat unix.Stat_t
	switch err := unix.Fstatat(int(w.here.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW); {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return w.leftOut(&os.PathError{Op: "stat", Path: name, Err: err})
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		l.below = append(l.below, name)
		return nil
	}
	return w.Visit(w.here, name, &stat)
}

// back returns to the parent directory. If this one was moved to another parent, it starts again from the top.
func (w *walk) back() error {
	if len(w.levels) == 0 {
		return nil
	}
	above, err := Open(w.here, "..", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return w.restart()
	}
	self, err := w.move(above)
	if err != nil || inodeOf(self) != w.levels[len(w.levels)-1].self {
		return w.restart()
	}
	return nil
}

// restart follows the levels from the top, and drops those that no longer exist.
func (w *walk) restart() error {
	here, err := Open(w.top, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	if _, err := w.move(here); err != nil {
		return err
	}
	for i, l := range w.levels[1:] {
		next, err := Open(w.here, l.name, unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			w.levels = w.levels[:i+1]
			return w.leftOut(err)
		}
		if !is(next, l.self) {
			next.Close()
			w.levels = w.levels[:i+1]
			return nil
		}
		if _, err := w.move(next); err != nil {
			return err
		}
	}
	return nil
}

// move makes a directory the current one.
func (w *walk) move(to *os.File) (*unix.Stat_t, error) {
	if w.here != nil {
		w.here.Close()
	}
	w.here = to
	return statOf(to)
}

func is(dir *os.File, who inode) bool {
	stat, err := statOf(dir)
	return err == nil && inodeOf(stat) == who
}

func statOf(f *os.File) (*unix.Stat_t, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return nil, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return &stat, nil
}

// Open opens the file of that name in a directory. It opens no symbolic link, unless flags have O_PATH, and nothing that is mounted
// there: IsElsewhere tells such errors.
func Open(dir *os.File, name string, flags uint64) (*os.File, error) {
	how := unix.OpenHow{
		Flags: flags | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		// RESOLVE_NO_XDEV also refuses a bind mount of the same file system, whose device number is the same.
		Resolve: unix.RESOLVE_NO_XDEV,
	}
	fd, err := unix.Openat2(int(dir.Fd()), name, &how)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// IsElsewhere reports whether a file could not be opened because it is not there any more, another one has its name now, or something
// is mounted there.
func IsElsewhere(err error) bool {
	for _, is := range []error{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EXDEV} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}
