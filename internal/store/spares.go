package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// spareBytes is what a spare segment takes: a segment of the log, and what may be written beyond its end before the next begins.
const spareBytes = segmentBytes + burstBytes

// spares is a folder of files that have the disk space of a segment of etcd's log each, and have never been written to. A file with a
// second name outside the folder is in use.
type spares struct{ dir string }

// open makes the folder, and removes what a killed process left in it.
func (s spares) open() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	s.dropUsed()
	return nil
}

// list returns the paths of the files that are not in use.
func (s spares) list() (paths []string) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		var stat unix.Stat_t
		if unix.Lstat(path, &stat) == nil && stat.Nlink == 1 {
			paths = append(paths, path)
		}
	}
	return paths
}

// fill makes files until there are as many as wanted. It returns how many there are, and why there are no more.
func (s spares) fill(wanted int) (there int, err error) {
	for there = len(s.list()); there < wanted; there++ {
		if err := s.add(); err != nil {
			return there, err
		}
	}
	return there, nil
}

func (s spares) add() error {
	f, err := os.CreateTemp(s.dir, "segment-")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := allocate(f.Name(), spareBytes); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// moveTo moves a file to a path at which there must be none. If there is no file, it makes one.
func (s spares) moveTo(path string) error {
	if len(s.list()) == 0 {
		if err := s.add(); err != nil {
			return err
		}
	}
	err := unix.Renameat2(unix.AT_FDCWD, s.list()[0], unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	if err != nil {
		return &os.PathError{Op: "rename", Path: path, Err: err}
	}
	return nil
}

// giveUp removes a file, and reports whether there was one.
func (s spares) giveUp() bool {
	paths := s.list()
	return len(paths) > 0 && os.Remove(paths[0]) == nil
}

// keep gives the file at path a second name in the folder.
func (s spares) keep(path string) {
	var stat unix.Stat_t
	if unix.Lstat(path, &stat) == nil {
		_ = os.Link(path, filepath.Join(s.dir, fmt.Sprintf("kept-%d", stat.Ino)))
	}
}

// dropUsed removes the names of files that have another name, were written to, or were not finished.
func (s spares) dropUsed() {
	entries, _ := os.ReadDir(s.dir) // Without the folder there are none.
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		var stat unix.Stat_t
		if unix.Lstat(path, &stat) != nil || stat.Nlink > 1 || allocated(stat) < spareBytes || isBegun(path) {
			_ = os.Remove(path)
		}
	}
}
