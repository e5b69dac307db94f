package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/test/await"
)

// unfinished makes the files of a first start that was killed after it had made the log: an empty database and a log
// without an entry.
func unfinished(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	setSegmentSize()
	member := filepath.Join(dir, "etcd", "member")
	if err := os.MkdirAll(filepath.Join(member, "snap"), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(filepath.Join(member, "snap", "db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := wal.Create(zap.NewNop(), filepath.Join(member, "wal"), []byte("metadata"))
	if err := errors.Join(err, db.Close(), log.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAFirstStartThatNeverEndedIsBegunAnew(t *testing.T) {
	for name, damage := range map[string]func(dir string) error{
		"killed": func(string) error { return nil },
		"torn by a loss of power": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "etcd/member/snap/db"), make([]byte, 10_000), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unfinished(t)
			mark := filepath.Join(dir, "etcd", firstStart)
			if err := errors.Join(os.WriteFile(mark, nil, 0o600), damage(dir)); err != nil {
				t.Fatal(err)
			}
			for _, kept := range []int{0, 1} { // the second round finds the key that the first one wrote
				s, err := Open(t.Context(), dir)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := os.Lstat(mark); err == nil {
					t.Error("an open store is still marked as one that has never been ready")
				}
				got, err := s.Client().Get(t.Context(), "/k")
				if err != nil || len(got.Kvs) != kept {
					t.Errorf("found %v with %v, want %d", got, err, kept)
				}
				_, err = s.Client().Put(t.Context(), "/k", "v")
				if err := errors.Join(err, s.Close()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A user may restore a backup into a directory with an unfinished first start.
func TestAStoreThatWasPutBesideTheMarkIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for range maxStartEntries {
		_, err = s.Client().Put(t.Context(), "/k", "v")
	}
	mark := filepath.Join(dir, "etcd", firstStart)
	if err := errors.Join(err, s.Close(), os.WriteFile(mark, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), mark) {
		t.Errorf("opened %v with %v", s, err)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	s, err = Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.Client().Get(t.Context(), "/k"); err != nil || len(got.Kvs) != 1 {
		t.Errorf("without the mark: %v, %v", got, err)
	}
}

func TestALogWithoutAnEntryIsRefused(t *testing.T) {
	dir := unfinished(t)
	s, err := Open(t.Context(), dir)
	if err == nil {
		_ = s.Close()
	}
	want := filepath.Join(dir, "etcd/member/wal") + " is damaged (it holds no entry)"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("opened with %v, want %q", err, want)
	}
}

// A program that reads the database locks it, and etcd waits for that lock.
func TestOpenGivesUpWithItsContext(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := os.Open(filepath.Join(dir, "etcd/member/snap/db")) // locked, so that etcd waits
	if err == nil {
		err = unix.Flock(int(db.Fd()), unix.LOCK_SH)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	go cancel(interrupted)
	if _, err := Open(ctx, dir); !errors.Is(err, interrupted) {
		t.Errorf("got %v", err)
	}
	var locked *LockedError
	if _, err := Open(t.Context(), dir); !errors.As(err, &locked) {
		t.Errorf("while etcd still starts, a second Open ends with %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the store can be opened when etcd has started and is closed", func() bool {
		s, err = Open(t.Context(), dir)
		return err == nil
	}, func() string { return fmt.Sprint(err) })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestAStartThatTakesLongSaysSo(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	synctest.Test(t, func(t *testing.T) {
		_, err := awaitStart(t.Context(), "/data/etcd", make(chan result), make(chan error))
		if !errors.Is(err, errStillStarting) {
			t.Errorf("ended with %v", err)
		}
	})
	if got := out.String(); !strings.Contains(got, "the store in /data/etcd is not ready after 10s") {
		t.Errorf("said %q", got)
	}
}
