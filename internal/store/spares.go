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

// list returns the paths of the files.
func (s spares) list() []string {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil
	}
	paths := make([]string, len(entries))
	for i, e := range entries {
		paths[i] = filepath.Join(s.dir, e.Name())
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

// moveTo gives a file another name outside the folder, at which there must be none.
func (s spares) moveTo(path string) error {
	if len(s.list()) == 0 {
		if err := s.add(); err != nil {
			return err
		}
	}
	spare := s.list()[0]
	if err := os.Link(spare, path); err != nil {
		return err
	}
	if err := os.Remove(spare); err != nil {
		return errors.Join(err, os.Remove(path)) // It must not be used twice.
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

// dropUsed removes the names of files that have another name, or were not finished.
func (s spares) dropUsed() {
	for _, path := range s.list() {
		var stat unix.Stat_t
		if unix.Lstat(path, &stat) != nil || stat.Nlink > 1 || allocated(stat) < spareBytes {
			_ = os.Remove(path)
		}
	}
}
