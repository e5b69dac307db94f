// Package datadir decides whether a data directory can be trusted. Who can write to it can run programs as the user, as it
// contains keys, a token and the objects. So the directory, its parents and Stint's files in it must belong to this user or
// root, and must not be writable for others.
//
// scan.go finds out owners and modes, check.go decides.
package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// Folders of a data directory. They are accessible to this user only, whatever the mode of the data directory.
const (
	Etcd = "etcd"
	Logs = "logs"
	PKI  = "pki"
	Pods = "pods"
	// PersistentVolumes is missing in a data directory of an older version.
	PersistentVolumes = "persistentvolumes"
)

// Kubeconfig is the file with the address and credentials for clients.
const Kubeconfig = "kubeconfig"

// Check returns an error with a remedy if the data directory at path cannot be trusted, and warnings if it is writable for a
// group. If it does not exist, its parents are checked.
func Check(path string) (warnings []string, err error) {
	seen, unseen := scan(path)
	// An error about what was found comes first: a directory of another user may be unreadable, too.
	if warnings, err = check(path, me(), seen); err != nil {
		return nil, err
	}
	return warnings, unseen
}

// Make checks the data directory as Check does, creates it and its folders if necessary, and makes the folders accessible to
// this user only.
func Make(path string) (warnings []string, err error) {
	return checked(path, makeFolders)
}

// checked checks before and after make: another user may have created the directory in between.
func checked(path string, make func(path string) error) (warnings []string, err error) {
	if _, err := Check(path); err != nil {
		return nil, err
	}
	if err := make(path); err != nil {
		return nil, err
	}
	return Check(path)
}

func makeFolders(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	for _, name := range []string{Etcd, Logs, PKI, Pods, PersistentVolumes} {
		if err := makePrivate(filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// Open opens a regular file of a data directory. It does not follow a link, or block on a FIFO: the error is then ErrNotAFile.
func Open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EISDIR) {
		return nil, &os.PathError{Op: "open", Path: path, Err: ErrNotAFile}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: ErrNotAFile}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ErrNotAFile means that a path is a link, FIFO, device or directory instead of a regular file.
var ErrNotAFile = errors.New("it is not a regular file: remove it")

// WriteFile replaces a small file atomically and durably.
func WriteFile(path string, content []byte, mode fs.FileMode) error {
	if err := renameio.WriteFile(path, content, mode); err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

// Overwrite writes a small file in its place, which needs no space on a full disk if the file has as many blocks. A crash may leave half
// of it.
func Overwrite(path string, content []byte) error {
	f, err := Open(path, os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(content, 0)
	return errors.Join(err, f.Truncate(int64(len(content))), f.Sync(), f.Close())
}

// Sync flushes the directory's entries to the disk.
func Sync(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// maxBytes is larger than all files that ReadFile is for.
const maxBytes = 1 << 20

// ReadFile reads a small file of a data directory.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(text) > maxBytes {
		err = &os.PathError{Op: "read", Path: path, Err: errors.New("it is too large to be one of Stint's: remove it")}
	}
	return text, err
}

func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	if stat.Mode&0o077 == 0 {
		return nil
	}
	if err := unix.Fchmod(fd, stat.Mode&0o700); err != nil {
		return &os.PathError{Op: "chmod", Path: dir, Err: err}
	}
	return nil
}
