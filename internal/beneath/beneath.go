// Package beneath removes the contents of a directory that belongs to Stint, or gives them to a group. It changes nothing
// outside of the directory, whatever links and mounts pods or other users have put into it.
//
// It is the only package that removes recursively; the linter forbids os.RemoveAll elsewhere. Names are single path
// elements and are looked up from an open descriptor, so that no link is followed and no directory on the way can be
// replaced. What is mounted below the directory is not touched.
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

// At returns the directory that is open as file, which the caller closes.
func At(file *os.File) *Dir { return &Dir{file} }

// Close closes the directory.
func (d *Dir) Close() { d.file.Close() }

// Remove removes the entry of that name with all its contents. It returns nil if there is none.
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
