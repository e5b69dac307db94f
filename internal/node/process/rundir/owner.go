package rundir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ID tells a data directory from another one that is or was at the same path: it is the device and the inode.
func ID(dataDir string) (string, error) {
	var stat unix.Stat_t
	if err := unix.Stat(dataDir, &stat); err != nil {
		return "", &os.PathError{Op: "stat", Path: dataDir, Err: err}
	}
	return idOf(&stat), nil
}

func idOf(stat *unix.Stat_t) string { return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino) }

// Owner is the data directory of a run directory. It is open, so that it stays the same one if it is moved or deleted, and so
// that no other directory gets its inode.
type Owner struct {
	dir *os.File
	// name is that of the run directory.
	name string
	id   string
}

// OpenOwner opens dataDir as the owner of the run directory dir.
func OpenOwner(dataDir, dir string) (*Owner, error) {
	file, err := os.OpenFile(dataDir, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	var stat unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil {
		file.Close()
		return nil, &os.PathError{Op: "stat", Path: dataDir, Err: err}
	}
	return &Owner{file, filepath.Base(dir), idOf(&stat)}, nil
}

// ID is the ID of the data directory.
func (o *Owner) ID() string { return o.id }

// HasLeft reports whether the data directory does not name the run directory any more. It was deleted or emptied then, or has
// another run directory, and no control plane will find this one through it. If that cannot be found out, it has not.
func (o *Owner) HasLeft() bool {
	fd, err := unix.Openat(int(o.dir.Fd()), PointerName, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	file := os.NewFile(uintptr(fd), PointerName)
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxBytes))
	return err == nil && strings.TrimSpace(string(text)) != o.name
}

// Close closes the data directory.
func (o *Owner) Close() { o.dir.Close() }
