package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/datadir"
)

// LockedError means that another process has the data directory open.
type LockedError struct {
	Dir string
	// PID is the ID of the other process, or 0 if the lock file does not have it.
	PID int
}

func (e *LockedError) Error() string {
	holder := "another Stint"
	if e.PID != 0 {
		holder = fmt.Sprintf("another Stint (process %d)", e.PID)
	}
	return fmt.Sprintf("the data directory %s is in use by %s; stop it, or choose another directory with --data-dir", e.Dir, holder)
}

// lock is an advisory kernel lock on a file. The kernel releases it when the process ends, even if it is killed.
type lock struct{ file *os.File }

const (
	// lockName is locked by the process that has the store open.
	lockName = "lock"
	// serverLockName is locked by stint server, also while it waits for the store.
	serverLockName = "server.lock"
)

func takeLock(dir, name string) (*lock, error) {
	f, err := datadir.Open(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, unusable(dir, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &LockedError{Dir: dir, PID: readPID(f)}
		}
		return nil, fmt.Errorf("lock the data directory %s: %w", dir, err)
	}
	if err := writePID(f); err != nil {
		_ = f.Close()
		return nil, unusable(dir, err)
	}
	return &lock{file: f}, nil
}

// LockForServer tells other processes that the data directory has a server, until the returned function is called or the process
// ends. The error is a LockedError if there is one already.
func LockForServer(dir string) (release func(), err error) {
	l, err := takeLock(dir, serverLockName)
	if err != nil {
		return nil, err
	}
	return l.release, nil
}

// CheckUnlocked returns a LockedError if another process has the store open.
func CheckUnlocked(dir string) error {
	if pid, locked := holder(filepath.Join(dir, lockName)); locked {
		return &LockedError{Dir: dir, PID: pid}
	}
	return nil
}

// HasServer reports whether a server uses the data directory, or waits for it. A run that serves the directory itself makes way.
func HasServer(dir string) bool {
	_, locked := holder(filepath.Join(dir, serverLockName))
	return locked
}

// holder reports whether another process has locked a file, and returns its process ID, 0 if that is not known.
func holder(path string) (pid int, locked bool) {
	f, err := datadir.Open(path, os.O_RDONLY)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	if !errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK) {
		return 0, false
	}
	return readPID(f), true
}

func readPID(f *os.File) int {
	b, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

// writePID overwrites the other ID in its place: on a full disk a file that was cut to nothing might not get a block again.
func writePID(f *os.File) error {
	_, err := f.WriteAt(fmt.Appendf(nil, "%-10d\n", os.Getpid()), 0)
	return err
}

// release keeps the file. If it were removed, one process could hold the lock of the removed file and another one that of
// a new file.
func (l *lock) release() { _ = l.file.Close() }
