package beneath

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Share says how a directory is shared with a group.
type Share struct {
	Group uint32
	// Write lets the group read and write all files that are in the directory.
	Write bool
	// OnMismatch leaves all as it is if the directory itself is shared in this way already.
	OnMismatch bool
}

// The permissions that the group gets of files and directories.
const (
	writableFile = 0o660
	writableDir  = 0o770
)

// ShareAt gives the directory at path, which may not be a symbolic link, and all its contents to a group. Files that are made
// there later belong to the group as well. The directory above it must belong to this user, but containers may have given it
// to another one.
func ShareAt(path string, s Share) error {
	parent, err := Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer parent.Close()
	dir, err := openAt(parent.file, filepath.Base(path), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return err
	}
	defer dir.Close()
	root, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()))
	if err != nil {
		return err
	}
	defer root.Close()
	if s.OnMismatch && s.matches(dir) {
		return nil
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return s.apply(root, path)
	})
	if err != nil {
		return fmt.Errorf("give %s to group %d: %w", path, s.Group, err)
	}
	return nil
}

func (s Share) apply(root *os.Root, path string) error {
	if err := root.Lchown(path, -1, int(s.Group)); err != nil {
		return err
	}
	info, err := root.Lstat(path)
	if err != nil {
		return err
	}
	mode := s.mode(info.Mode())
	if info.Mode()&fs.ModeSymlink != 0 || mode == info.Mode() {
		return nil
	}
	return root.Chmod(path, mode)
}

// mode returns the mode of a shared file or directory that has this one.
func (s Share) mode(m fs.FileMode) fs.FileMode {
	if m.IsDir() {
		m |= fs.ModeSetgid
	}
	switch {
	case s.Write && m.IsDir():
		m |= writableDir
	case s.Write && m.IsRegular():
		m |= writableFile
	}
	return m
}

func (s Share) matches(dir *os.File) bool {
	var stat unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &stat); err != nil || stat.Gid != s.Group {
		return false
	}
	info, err := dir.Stat()
	return err == nil && s.mode(info.Mode()) == info.Mode()
}
