// Package datadir decides whether a data directory can be trusted. What is in one decides who may run programs as the
// user: keys, a token, the objects themselves. So nobody but this user and root may own it, what Stint keeps in it, or a
// directory above it, and nobody else may write there.
//
// What is seen (see.go) is apart from what follows from it (judge.go).
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

// Folders of a data directory. They are open to this user alone, whatever stands above them.
const (
	Etcd = "etcd"
	Logs = "logs"
	PKI  = "pki"
	Pods = "pods"
)

// Kubeconfig is the file with which clients reach the server.
const Kubeconfig = "kubeconfig"

// Check returns an error if the data directory at path cannot be trusted, with what helps, and warnings if it can but
// hardly should be. One that does not exist is judged by what is above it.
func Check(path string) (warnings []string, err error) {
	seen, unseen := scan(path)
	// What was seen comes first: that a directory of another user's cannot be read is no surprise.
	if warnings, err = check(path, me(), seen); err != nil {
		return nil, err
	}
	return warnings, unseen
}

// Make checks the data directory as Check does, makes what is missing of it, and closes the folders that are to be open
// to this user alone.
func Make(path string) (warnings []string, err error) {
	return checked(path, makeFolders)
}

// checked looks before and after: what was missing before may have been made by another user since.
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
	for _, name := range []string{Etcd, Logs, PKI, Pods} {
		if err := makePrivate(filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// Open opens a file that Stint keeps in a data directory. It follows no link, and waits for nobody as it would at a FIFO:
// what is no file is an error that names it.
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

// ErrNotAFile is a link, a FIFO, a device or anything else where a file is to be.
var ErrNotAFile = errors.New("it is not a regular file: remove it")

// WriteFile replaces a small file by one with this content, which survives a loss of power from then on.
func WriteFile(path string, content []byte, mode fs.FileMode) error {
	if err := renameio.WriteFile(path, content, mode); err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

// Sync has the names in dir reach the disk.
func Sync(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// maxBytes is beyond all that ReadFile is for.
const maxBytes = 1 << 20

// ReadFile reads a small file that Stint keeps in a data directory.
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
