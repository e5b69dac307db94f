// Package beneath removes the contents of a directory that belongs to Stint, or gives them to a group. It changes nothing
// outside of the directory, whatever links and mounts pods or other users have put into it.
//
// It is the only package that removes recursively; the linter forbids os.RemoveAll elsewhere. Names are single path
// elements and are looked up from an open descriptor, so that no link is followed and no directory on the way can be
// replaced. What is mounted below the directory is not touched.
package beneath

import (
	"context"
	"errors"
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

// MakeShared makes a directory of that name which every user may write to. If there is one, it stays as it is.
func (d *Dir) MakeShared(name string) error {
	if !IsElement(name) {
		return fmt.Errorf("make %q in %s: it cannot be the name of an entry", name, d.file.Name())
	}
	at, path := int(d.file.Fd()), filepath.Join(d.file.Name(), name)
	var stat unix.Stat_t
	switch err := unix.Fstatat(at, name, &stat, unix.AT_SYMLINK_NOFOLLOW); {
	case err == nil && stat.Mode&unix.S_IFMT == unix.S_IFDIR:
		return nil
	case err == nil:
		return fmt.Errorf("%s is not a directory: move it away", path)
	case !errors.Is(err, unix.ENOENT):
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	// It gets its name when it has its mode.
	fresh := ".made-" + name
	if err := unix.Mkdirat(at, fresh, 0o777); err != nil && !errors.Is(err, unix.EEXIST) {
		return &os.PathError{Op: "mkdir", Path: path, Err: err}
	}
	made, err := openAt(d.file, fresh, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	defer made.Close()
	if err := made.Chmod(0o777); err != nil {
		return err
	}
	return d.Rename(fresh, name)
}

// Rename gives the entry another name. What has that name already is replaced only if it is an empty directory, or no
// directory.
func (d *Dir) Rename(from, to string) error {
	if !IsElement(from) || !IsElement(to) {
		return fmt.Errorf("rename %q to %q in %s: one is not the name of an entry", from, to, d.file.Name())
	}
	at := int(d.file.Fd())
	if err := unix.Renameat(at, from, at, to); err != nil {
		return &os.LinkError{Op: "rename", Old: filepath.Join(d.file.Name(), from), New: to, Err: err}
	}
	return nil
}

// Remove removes the entry of that name with all its contents. It returns nil if there is none. When ctx ends, some of the contents
// may be left.
func (d *Dir) Remove(ctx context.Context, name string) error {
	if !IsElement(name) {
		return fmt.Errorf("remove %q from %s: it is not the name of an entry", name, d.file.Name())
	}
	r := removal{ctx: ctx}
	return r.remove(d.file, name, 0)
}

// Empty removes all entries.
func (d *Dir) Empty(ctx context.Context) error {
	names, err := d.file.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := d.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// IsElement reports whether name is a single element of a path.
func IsElement(name string) bool {
	return filepath.IsLocal(name) && filepath.Base(name) == name && name != "."
}
