// Package beneath removes what lies below a directory of Stint's own, or gives it to a group, and touches nothing else,
// whatever links and mounts others have put there.
//
// It is the only place that removes recursively; the linter forbids os.RemoveAll elsewhere. Names come one element at a
// time and are looked up from an open descriptor, so that no link is followed and nothing can be swapped on the way.
// What is mounted below the directory belongs to somebody else and is left alone.
package beneath

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Dir is an open directory that belongs to this user.
type Dir struct{ file *os.File }

// Open opens the directory at path, which may not be a symbolic link itself.
func Open(path string) (*Dir, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	d := &Dir{os.NewFile(uintptr(fd), path)}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		d.Close()
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if int(stat.Uid) != os.Geteuid() {
		d.Close()
		return nil, fmt.Errorf("%s belongs to user %d, not to %d", path, stat.Uid, os.Geteuid())
	}
	return d, nil
}

// At is the directory that is open as file, which stays the caller's to close.
func At(file *os.File) *Dir { return &Dir{file} }

// Close ends the use of d.
func (d *Dir) Close() { d.file.Close() }

// Remove removes the entry of that name with all that is in it. One that is not there is no error.
func (d *Dir) Remove(name string) error {
	if !IsElement(name) {
		return fmt.Errorf("remove %q from %s: it is not the name of an entry", name, d.file.Name())
	}
	r := removal{top: d.file}
	if err := r.remove(d.file, name, 0); err != nil {
		return err
	}
	for i := 0; i < len(r.moved); i++ {
		if err := r.remove(d.file, r.moved[i], 0); err != nil {
			return err
		}
	}
	return nil
}

// Empty removes all entries.
func (d *Dir) Empty() error {
	names, err := d.file.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := d.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// IsElement reports whether name is a single element of a path.
func IsElement(name string) bool {
	return filepath.IsLocal(name) && filepath.Base(name) == name && name != "."
}
