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

func takeLock(dir string) (*lock, error) {
	f, err := datadir.Open(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE)
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

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// release keeps the file. If it were removed, one process could hold the lock of the removed file and another one that of
// a new file.
func (l *lock) release() { _ = l.file.Close() }
