// Package diskusage measures how much disk space a directory takes with all its contents, which may change meanwhile.
//
// Names are looked up one by one from an open directory, so that no link is followed. What is mounted below the directory
// is not counted.
package diskusage

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// block is the unit of st_blocks on every file system.
	block = 512
	// batch is how many names of a directory are read at a time.
	batch = 1024
	// maxCounted bounds how many files with several names are remembered. For further ones each name counts for its share
	// of the size.
	maxCounted = 1 << 20
)

// Of returns how many bytes are allocated for the directory and all its contents; a file with several names there counts
// once. It leaves out what this process may not read, and what is removed or moved away meanwhile.
func Of(top *os.File) (int64, error) {
	w := walk{top: top, counted: map[inode]bool{}}
	defer func() { w.here.Close() }()
	if err := w.run(); err != nil {
		return 0, err
	}
	return w.bytes, nil
}

type inode struct{ device, number uint64 }

func inodeOf(stat *unix.Stat_t) inode { return inode{uint64(stat.Dev), stat.Ino} }

// walk keeps only the current directory open, however deep that is.
type walk struct {
	top, here *os.File
	// levels lead from top to here.
	levels []level
	bytes  int64
	// counted are the files with several names that were counted.
	counted map[inode]bool
}

type level struct {
	name string
	self inode
	// below are the directories in it that are still to be visited.
	below []string
}

func (w *walk) run() error {
	here, err := openDir(w.top, ".")
	if err != nil {
		return err
	}
	if err := w.enter(here, "."); err != nil {
		return err
	}
	for len(w.levels) > 0 {
		if err := w.step(); err != nil {
			return err
		}
	}
	return nil
}

// step visits one more directory, or leaves this one if all that is below it has been visited.
func (w *walk) step() error {
	last := &w.levels[len(w.levels)-1]
	if len(last.below) == 0 {
		w.levels = w.levels[:len(w.levels)-1]
		return w.back()
	}
	name := last.below[len(last.below)-1]
	last.below = last.below[:len(last.below)-1]
	next, err := openDir(w.here, name)
	if err != nil {
		return nil //nolint:nilerr // It was removed, or this process may not read it.
	}
	return w.enter(next, name)
}

// enter goes to dir, and counts it and all its entries except directories.
func (w *walk) enter(dir *os.File, name string) error {
	w.move(dir)
	var stat unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &stat); err != nil {
		return &os.PathError{Op: "stat", Path: dir.Name(), Err: err}
	}
	w.bytes += stat.Blocks * block
	l := level{name: name, self: inodeOf(&stat)}
	for {
		names, err := dir.Readdirnames(batch)
		for _, name := range names {
			if w.count(name) {
				l.below = append(l.below, name)
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

// count counts an entry of the directory, unless it is a directory itself.
func (w *walk) count(name string) (isDir bool) {
	var stat unix.Stat_t
	if unix.Fstatat(int(w.here.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return false
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		return true
	}
	w.bytes += w.share(&stat) * block
	return false
}

// share is how many blocks of a file are counted for the name that is visited.
func (w *walk) share(stat *unix.Stat_t) int64 {
	switch {
	case stat.Nlink <= 1:
		return stat.Blocks
	case w.counted[inodeOf(stat)]:
		return 0
	case len(w.counted) >= maxCounted:
		return stat.Blocks / int64(stat.Nlink)
	}
	w.counted[inodeOf(stat)] = true
	return stat.Blocks
}

// back returns to the parent directory. If this one was moved to another parent, it starts again from the top.
func (w *walk) back() error {
	if len(w.levels) == 0 {
		return nil
	}
	above, err := openDir(w.here, "..")
	if err == nil {
		if is(above, w.levels[len(w.levels)-1].self) {
			w.move(above)
			return nil
		}
		above.Close()
	}
	return w.restart()
}

// restart follows the levels from the top, and drops those that no longer exist.
func (w *walk) restart() error {
	here, err := openDir(w.top, ".")
	if err != nil {
		return err
	}
	w.move(here)
	for i, l := range w.levels[1:] {
		next, err := openDir(w.here, l.name)
		if err == nil && !is(next, l.self) {
			next.Close()
			err = unix.ENOENT
		}
		if err != nil {
			w.levels = w.levels[:i+1]
			return nil
		}
		w.move(next)
	}
	return nil
}

func (w *walk) move(to *os.File) {
	if w.here != nil {
		w.here.Close()
	}
	w.here = to
}

func is(dir *os.File, who inode) bool {
	var stat unix.Stat_t
	return unix.Fstat(int(dir.Fd()), &stat) == nil && inodeOf(&stat) == who
}

func openDir(in *os.File, name string) (*os.File, error) {
	how := unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		// RESOLVE_NO_XDEV also refuses a bind mount of the same file system, whose device number is the same.
		Resolve: unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_SYMLINKS,
	}
	fd, err := unix.Openat2(int(in.Fd()), name, &how)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: in.Name() + "/" + name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}
