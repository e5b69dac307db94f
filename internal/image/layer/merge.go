package layer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/beneath"
)

// Merge builds the tree of an image in dst, an empty directory, from its layers, the lowest first. Its files are hard links
// into the layers, or copies if they cannot be linked: some file systems allow few links to a file, and some users may not
// link to files of others.
func Merge(dst *os.File, layers []*os.File) error { return MergeWithin(dst, layers, unbounded) }

// MergeWithin is Merge with a function like Options.Take.
func MergeWithin(dst *os.File, layers []*os.File, take func(bytes int64) error) error {
	m := &merging{linkat: linkat, take: take}
	return m.all(dst, layers)
}

// merge is Merge with another way to link, for tests.
func merge(dst *os.File, layers []*os.File, linkat linking) error {
	m := &merging{linkat: linkat, take: unbounded}
	return m.all(dst, layers)
}

func (m *merging) all(dst *os.File, layers []*os.File) error {
	m.root = &root{dir: dst, maxSteps: defaultMaxSteps, put: m.put}
	defer m.root.close()
	if err := takeGroup(dst); err != nil {
		return err
	}
	for _, l := range layers {
		if err := m.add(l); err != nil {
			return fmt.Errorf("merge layer %s: %w", path.Base(l.Name()), err)
		}
	}
	return m.createMountPoints()
}

// linking makes a hard link, as, in to.
type linking func(from *os.File, name string, to *os.File, as string) error

type merging struct {
	root   *root
	linkat linking
	take   func(bytes int64) error
	copies copies
}

func (m *merging) add(layer *os.File) error {
	c, err := readChanges(layer)
	if err != nil {
		return err
	}
	if err := m.applyWhiteouts(c); err != nil {
		return err
	}
	tree, err := openTree(layer)
	if err != nil {
		return err
	}
	defer tree.Close()
	m.copies = newCopies()
	if err := m.directory(tree, m.root.dir, ".", false); err != nil {
		return err
	}
	m.root.forget()
	for _, l := range c.Links {
		found, err := m.root.link(string(l.Path), string(l.Target))
		if err == nil && !found {
			err = fmt.Errorf("its target %q is not in the image", l.Target)
		}
		if err != nil {
			return &EntryError{string(l.Path), err}
		}
	}
	return nil
}

// applyWhiteouts removes what a layer removes of the layers below it.
func (m *merging) applyWhiteouts(c changes) error {
	defer m.root.forget()
	for _, p := range c.Opaque {
		if err := m.empty(string(p)); err != nil {
			return &EntryError{string(p), err}
		}
	}
	for _, p := range c.Removed {
		if err := m.remove(string(p)); err != nil {
			return &EntryError{string(p), err}
		}
	}
	return nil
}

func (m *merging) remove(p string) error {
	dir, err := m.root.existing(path.Dir(p))
	if err != nil || dir == nil {
		return err
	}
	defer dir.Close()
	return keepTime(dir, func() error { return beneath.At(dir).Remove(context.Background(), path.Base(p)) })
}

func (m *merging) empty(p string) error {
	dir, err := m.root.existing(p)
	if err != nil || dir == nil {
		return err
	}
	defer dir.Close()
	return keepTime(dir, func() error { return beneath.At(dir).Empty(context.Background()) })
}

// directory adds the content of src to dst, whose path is p. isNew says that the merge has just created dst.
func (m *merging) directory(src, dst *os.File, p string, isNew bool) error {
	var before unix.Stat_t
	if err := unix.Fstat(int(dst.Fd()), &before); err != nil {
		return err
	}
	for {
		entries, err := src.ReadDir(1024)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := m.entry(src, dst, e, path.Join(p, e.Name())); err != nil {
				return err
			}
		}
	}
	return finishDirectory(src, dst, before, isNew)
}

func (m *merging) entry(src, dst *os.File, e os.DirEntry, p string) error {
	err := m.take(entrySize)
	if err != nil {
		return err
	}
	if e.IsDir() {
		err = m.subdirectory(src, dst, e.Name(), p)
	} else {
		if err = m.root.removeExisting(dst, e.Name()); err == nil {
			err = m.put(src, e.Name(), dst, e.Name(), p)
		}
	}
	var entry *EntryError
	if err == nil || errors.As(err, &entry) {
		return err
	}
	return &EntryError{p, err}
}

func (m *merging) subdirectory(src, dst *os.File, name, p string) error {
	from, err := openBelow(src, name)
	if err != nil {
		return err
	}
	defer from.Close()
	to, isNew, err := m.target(from, dst, name, p)
	if err != nil {
		return err
	}
	defer to.Close()
	return m.directory(from, to, p, isNew)
}

// target opens or creates the directory that gets the content of from. If the layer has no entry for the directory itself, it
// may be a link in a lower layer: then /lib/x goes to /usr/lib/x, if /lib is a link to /usr/lib.
func (m *merging) target(from, dst *os.File, name, p string) (to *os.File, isNew bool, err error) {
	s, there, err := stat(dst, name)
	switch {
	case err != nil:
		return nil, false, err
	case there && s.Mode&unix.S_IFMT == unix.S_IFLNK && isImplied(from):
		to, err = m.root.open(p)
		return to, false, err
	case there && isDir(s):
		to, err = openBelow(dst, name)
		return to, false, err
	}
	if err := m.root.removeExisting(dst, name); err != nil {
		return nil, false, err
	}
	if err := unix.Mkdirat(int(dst.Fd()), name, 0o700); err != nil {
		return nil, false, err
	}
	to, err = openBelow(dst, name)
	return to, true, err
}

func openBelow(dir *os.File, name string) (*os.File, error) {
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func isImplied(dir *os.File) bool {
	var s unix.Stat_t
	return unix.Fstat(int(dir.Fd()), &s) == nil && s.Mtim.Sec == impliedTime.Unix()
}

// finishDirectory gives dst the attributes of src. If the layer has no entry for the directory itself, it only restores the time of dst.
func finishDirectory(src, dst *os.File, before unix.Stat_t, isNew bool) error {
	if isImplied(src) && !isNew {
		return setTime(dst, before.Mtim)
	}
	a, err := attributesOfFile(src)
	if err != nil {
		return err
	}
	a.keepOwner(before)
	if a.modified.Unix() == impliedTime.Unix() {
		a.modified = time.Unix(0, 0)
	}
	if err := removeXattrs(int(dst.Fd()), a.xattrs); err != nil {
		return err
	}
	return a.apply(dst, ".", false)
}
