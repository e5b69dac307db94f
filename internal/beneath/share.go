package beneath

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filetree"
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
// to another one. When ctx ends, some of the contents may not belong to the group yet, nor does the directory itself.
func ShareAt(ctx context.Context, path string, s Share) error {
	parent, err := Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer parent.Close()
	dir, err := openAt(parent.file, filepath.Base(path), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	defer dir.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &stat); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if s.OnMismatch && s.matches(&stat) {
		return nil
	}
	// The directory comes last: OnMismatch takes it for a sign that all its contents are shared.
	if err = (filetree.Walk{Visit: s.visit}).Below(ctx, dir); err == nil {
		err = s.apply(dir)
	}
	if err != nil {
		return fmt.Errorf("give %s to group %d: %w", path, s.Group, err)
	}
	return nil
}

func (s Share) visit(dir *os.File, name string, stat *unix.Stat_t) error {
	if s.matches(stat) {
		return nil
	}
	file, err := filetree.Open(dir, name, unix.O_PATH)
	if filetree.IsElsewhere(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	return s.apply(file)
}

// apply shares an open file.
func (s Share) apply(file *os.File) error {
	if err := unix.Fchownat(int(file.Fd()), "", -1, int(s.Group), unix.AT_EMPTY_PATH); err != nil {
		return &os.PathError{Op: "chown", Path: file.Name(), Err: err}
	}
	var stat unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil { // The new group may have cleared some bits of the mode.
		return &os.PathError{Op: "stat", Path: file.Name(), Err: err}
	}
	if s.matches(&stat) {
		return nil
	}
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", file.Fd()), s.mode(stat.Mode)&^unix.S_IFMT)
}

// mode returns the mode of a shared file or directory that has this one.
func (s Share) mode(m uint32) uint32 {
	switch kind := m & unix.S_IFMT; {
	case kind == unix.S_IFDIR && s.Write:
		return m | unix.S_ISGID | writableDir
	case kind == unix.S_IFDIR:
		return m | unix.S_ISGID
	case kind == unix.S_IFREG && s.Write:
		return m | writableFile
	}
	return m
}

// matches reports whether a file is shared in this way.
func (s Share) matches(stat *unix.Stat_t) bool {
	return stat.Gid == s.Group && s.mode(stat.Mode) == stat.Mode
}
