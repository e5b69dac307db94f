package layer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// copies are the files of a layer that could not be linked.
type copies struct {
	// first is the path of the copy of a file, by the file's inode. Other names of the file become links to that copy.
	first map[inode]string
	// of is the inode of the original, by the inode of the copy. It shows whether a copy is still at its path: another copy may
	// have replaced it, and may even have its inode number.
	of map[inode]inode
}

type inode struct{ device, number uint64 }

func inodeOf(s unix.Stat_t) inode { return inode{s.Dev, s.Ino} }

func newCopies() copies { return copies{first: map[inode]string{}, of: map[inode]inode{}} }

// put links a file into the directory to under the name as; p is the path of the new name. If it cannot be linked, put copies
// it.
func (m *merging) put(from *os.File, name string, to *os.File, as, p string) error {
	err := m.linkat(from, name, to, as)
	if !cannotLink(err) {
		return err
	}
	s, _, err := stat(from, name)
	if err != nil {
		return err
	}
	if linked, err := m.linkToCopy(s, to, as); linked || err != nil {
		return err
	}
	if err := m.take(s.Size); err != nil {
		return err
	}
	if err := copyFile(from, name, s, to, as); err != nil {
		return fmt.Errorf("copy it, as it cannot be linked: %w", err)
	}
	made, _, err := stat(to, as)
	m.copies.of[inodeOf(made)] = inodeOf(s)
	if s.Nlink > 1 {
		m.copies.first[inodeOf(s)] = p
	}
	return err
}

// cannotLink reports whether err means that a file has too many links already, or that it cannot be linked there at all.
func cannotLink(err error) bool {
	return errors.Is(err, unix.EMLINK) || errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP)
}

// linkToCopy links to an earlier copy of a file, if there is one and it can be linked.
func (m *merging) linkToCopy(of unix.Stat_t, to *os.File, as string) (bool, error) {
	p, ok := m.copies.first[inodeOf(of)]
	if !ok {
		return false, nil
	}
	dir, err := m.root.existing(path.Dir(p))
	if err != nil || dir == nil {
		return false, err
	}
	defer dir.Close()
	s, there, err := stat(dir, path.Base(p))
	if err != nil || !there || m.copies.of[inodeOf(s)] != inodeOf(of) {
		return false, err
	}
	err = m.linkat(dir, path.Base(p), to, as)
	if cannotLink(err) {
		return false, nil
	}
	return err == nil, err
}

// copyFile copies a regular file, symbolic link or FIFO, whose status is s.
func copyFile(from *os.File, name string, s unix.Stat_t, to *os.File, as string) error {
	a := attributesOfStat(s)
	var err error
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		a.xattrs, err = copyContent(from, name, to, as)
	case unix.S_IFLNK:
		var target string
		if target, err = readLink(from, name); err == nil {
			err = unix.Symlinkat(target, int(to.Fd()), as)
		}
	default: // A FIFO: layers have nothing else.
		err = unix.Mkfifoat(int(to.Fd()), as, 0o600)
	}
	if err != nil {
		return err
	}
	made, _, err := stat(to, as)
	if err != nil {
		return err
	}
	a.keepOwner(made)
	return a.apply(to, as, s.Mode&unix.S_IFMT == unix.S_IFLNK)
}

// copyContent copies a regular file and returns its extended attributes.
func copyContent(from *os.File, name string, to *os.File, as string) (map[string]string, error) {
	fd, err := unix.Openat(int(from.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	in := os.NewFile(uintptr(fd), name)
	defer in.Close()
	out, err := createFile(int(to.Fd()), as)
	if err != nil {
		return nil, err
	}
	if _, err = io.Copy(out, in); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	return readXattrs(fd)
}
