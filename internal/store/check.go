package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filesystem"
)

// checkUsable finds problems with the directory on which etcd's start would fail halfway and leave files behind.
func checkUsable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return unusable(dir, err)
	}
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return unusable(dir, err)
	}
	_ = f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return unusable(dir, err)
	}
	return nil
}

// unusable adds the remedy to errors that users can fix.
func unusable(dir string, err error) error {
	remedy := "choose another directory with --data-dir"
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("the data directory %s cannot be written to (%w); %s", dir, err, remedy)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("no space for the data directory %s (%w); make room or %s", dir, err, remedy)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EEXIST):
		return fmt.Errorf("the data directory %s is not a directory (%w); %s", dir, err, remedy)
	}
	return fmt.Errorf("use the data directory %s: %w", dir, err)
}

// ifFull returns the error for a full disk, on which so many bytes are needed, and nil if err is another one.
func ifFull(etcdDir string, needed int64, err error) error {
	if !filesystem.IsFull(err) {
		return nil
	}
	return fmt.Errorf("no space for the data directory %s (%d MiB are needed; %w); make room or choose another directory with --data-dir",
		filepath.Dir(etcdDir), needed>>20, err)
}

// damaged returns the error for a damaged file, which only a backup can replace.
func damaged(path string, err error, etcdDir string) error {
	if isResourceError(err) {
		return fmt.Errorf("%s cannot be read (%w); it was left as it is", path, err)
	}
	return fmt.Errorf("%s is damaged (%w); it was left as it is: restore %s from a backup, or move it away to start empty",
		path, err, etcdDir)
}

// unreadable returns the error for files that etcd cannot read. err is the reason that etcd gave when it wanted to end
// this process.
func unreadable(err error, etcdDir string) error {
	switch {
	case !isRoomy(etcdDir, lookBytes):
		return fmt.Errorf("it cannot be read while its disk is full: %w; make room, or end the programs that take all space", err)
	case isResourceError(err):
		return fmt.Errorf("it cannot be read and was left as it is: %w", err)
	}
	return fmt.Errorf("it cannot be read and was left as it is: %w; restore %s from a backup, or move it away to start empty", err, etcdDir)
}
