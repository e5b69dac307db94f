package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// With these limits etcd took a healthy store for unreadable, and the error told users to restore a backup.
func TestALimitOfTheProcessIsNamed(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		resource int
		limit    uint64
	}{"ulimit -n": {unix.RLIMIT_NOFILE, 12}, "ulimit -f": {unix.RLIMIT_FSIZE, 100 << 10}, "ulimit -v": {unix.RLIMIT_AS, 9 << 30}} {
		t.Run(name, func(t *testing.T) {
			var before unix.Rlimit
			if err := unix.Getrlimit(test.resource, &before); err != nil {
				t.Fatal(err)
			}
			few := before
			few.Cur = test.limit
			if err := unix.Setrlimit(test.resource, &few); err != nil {
				t.Fatal(err)
			}
			s, err := Open(context.Background(), dir)
			if back := unix.Setrlimit(test.resource, &before); back != nil {
				t.Fatal(back)
			}
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "backup") {
				t.Errorf("opened with %v", err)
			}
		})
	}
	if s, err = Open(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func TestALackIsNoDamage(t *testing.T) {
	for text, err := range map[string]error{
		"as an error": fmt.Errorf("read it: %w", syscall.EMFILE),
		"as text":     errors.New("failed to open WAL: open x: too many open files"),
	} {
		if got := damaged("file", err, "dir").Error(); strings.Contains(got, "backup") || !strings.Contains(got, "left as it is") {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := damaged("file", errors.New("bad checksum"), "dir").Error(); !strings.Contains(got, "backup") {
		t.Error(got)
	}
}
