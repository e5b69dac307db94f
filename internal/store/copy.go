package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/datadir"
)

// placesForCopies are directories on other disks, or in memory, where a reader copies a store whose disk is full.
func placesForCopies() []string {
	return []string{os.TempDir(), os.Getenv("XDG_RUNTIME_DIR"), "/dev/shm"}
}

// copyOf copies etcd's files to the first place that has room, and returns their directory.
func copyOf(etcdDir string) (string, error) {
	err := errors.New("there is no place for a copy")
	for _, place := range placesForCopies() {
		dir, failed := copyTo(place, etcdDir)
		if failed == nil {
			return dir, nil
		}
		err = failed
	}
	return "", err
}

func copyTo(place, etcdDir string) (dir string, err error) {
	if place == "" || !isRoomy(place, plentyBytes) {
		return "", fmt.Errorf("there is no room for a copy in %q", place)
	}
	removeLeftCopies(place)
	if dir, err = os.MkdirTemp(place, copyPrefix); err != nil {
		return "", err
	}
	holdCopy(dir)
	for _, pattern := range []string{firstStart, "member/wal/*.wal", "member/snap/*.snap", "member/snap/db"} {
		names, _ := fs.Glob(os.DirFS(etcdDir), pattern) // The pattern is well-formed.
		for _, name := range names {
			err = errors.Join(err, copyFile(filepath.Join(dir, filepath.Dir(name)), filepath.Join(etcdDir, name)))
		}
	}
	if err != nil {
		return "", errors.Join(err, removeCopy(dir))
	}
	return dir, nil
}

const copyPrefix = "stint-copy-"

// holdCopy locks a copy until this process ends, so that no other reader removes it.
func holdCopy(dir string) {
	if fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err == nil {
		_ = unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB)
	}
}

// removeLeftCopies removes copies of this user that no process holds: their readers were killed.
func removeLeftCopies(place string) {
	names, _ := fs.Glob(os.DirFS(place), copyPrefix+"*") // The pattern is well-formed.
	for _, name := range names {
		path := filepath.Join(place, name)
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		var stat unix.Stat_t
		if unix.Fstat(fd, &stat) == nil && int(stat.Uid) == os.Geteuid() && unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = removeCopy(path)
		}
		unix.Close(fd)
	}
}

func removeCopy(dir string) error {
	d, err := beneath.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return errors.Join(d.Empty(context.Background()), os.Remove(dir))
}

// copyFile leaves holes where a file is zero, which most of etcd's files are.
func copyFile(to, path string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	from, err := datadir.Open(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(filepath.Join(to, filepath.Base(path)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	zero := make([]byte, 64<<10)
	chunk := make([]byte, len(zero))
	for size := int64(0); ; {
		n, err := io.ReadFull(from, chunk)
		if !bytes.Equal(chunk[:n], zero[:n]) {
			if _, err := f.WriteAt(chunk[:n], size); err != nil {
				return err
			}
		}
		size += int64(n)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return f.Truncate(size)
		case err != nil:
			return err
		}
	}
}
