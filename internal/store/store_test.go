package store_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/store"
)

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), dir)
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestWhatWasWrittenIsThereAfterReopening(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	s := open(t, dir)
	if _, err := s.Client().Put(context.Background(), "/k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, dir).Client().Get(context.Background(), "/k")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "v" {
		t.Errorf("after reopening: %v", got.Kvs)
	}
}

func TestASecondOpenNamesTheProcessThatHoldsTheLock(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	_, err := store.Open(context.Background(), dir)
	var locked *store.LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("second open: %v, want a LockedError", err)
	}
	if locked.PID != os.Getpid() {
		t.Errorf("process %d, want %d", locked.PID, os.Getpid())
	}
}

func TestOpenReportsWhatIsWrongWithTheDirectory(t *testing.T) {
	cases := map[string]struct {
		arrange func(t *testing.T) string
		want    string
	}{
		"a file is in its place": {
			arrange: func(t *testing.T) string {
				path := filepath.Join(t.TempDir(), "file")
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			},
			want: "is not a directory",
		},
		"it is read-only": {
			arrange: func(t *testing.T) string {
				if os.Getuid() == 0 {
					// Not even root can write to this directory.
					return "/proc/1/stint"
				}
				dir := t.TempDir()
				if err := os.Chmod(dir, 0o500); err != nil {
					t.Fatal(err)
				}
				return dir
			},
			want: "/",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := c.arrange(t)
			s, err := store.Open(context.Background(), dir)
			if err == nil {
				_ = s.Close()
				t.Fatal("it opened")
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %q does not name %q and the directory", err, c.want)
			}
		})
	}
}

func TestACorruptStoreIsReportedAndLeftAsItIs(t *testing.T) {
	cases := map[string]string{
		"a database of noise": "etcd/member/snap/db",
		"a log of noise":      "etcd/member/wal/0000000000000000-0000000000000000.wal",
	}
	for name, file := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			if _, err := s.Client().Put(context.Background(), "/k", "v"); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, file)
			noise := []byte(strings.Repeat("noise ", 20_000))
			if err := os.WriteFile(path, noise, 0o600); err != nil {
				t.Fatal(err)
			}
			if s, err := store.Open(context.Background(), dir); err == nil {
				_ = s.Close()
				t.Fatal("it opened")
			} else if !strings.Contains(err.Error(), "store") {
				t.Errorf("error %q does not speak of the store", err)
			} else {
				t.Log(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != string(noise) {
				t.Errorf("the file was changed (%d bytes, %v)", len(got), err)
			}
		})
	}
}

func TestADatabaseThatLostItsEndIsReportedAndLeftAsItIs(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := s.Client().Put(context.Background(), "/k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "etcd/member/snap/db")
	const left = 20_000
	if err := os.Truncate(path, left); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(context.Background(), dir)
	if err == nil {
		_ = s.Close()
		t.Fatal("it opened")
	}
	if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "restore") {
		t.Errorf("error %q names neither the file nor the remedy", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != left {
		t.Errorf("the file was changed: %v, %v", info, err)
	}
}

func TestALogThatIsDamagedIsReportedAndLeftAsItIs(t *testing.T) {
	const needle = "a value that stands in the log"
	cases := map[string]struct {
		damage func(log []byte) []byte
		want   string
	}{
		"it has lost its end": {
			damage: func(log []byte) []byte { return log[:bytes.Index(log, []byte(needle))] },
			want:   "entries of",
		},
		"its end is empty": {
			damage: func(log []byte) []byte {
				clear(log[bytes.Index(log, []byte(needle))&^511:])
				return log
			},
			want: "entries of",
		},
		"a byte of it is another": {
			damage: func(log []byte) []byte {
				log[bytes.Index(log, []byte(needle))] ^= 1
				return log
			},
			want: "crc mismatch",
		},
		"it is gone": {damage: func([]byte) []byte { return nil }, want: "ends after 0 entries"},
	}
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			for _, value := range []string{strings.Repeat("long ", 200), needle, "v", "v"} {
				if _, err := s.Client().Put(t.Context(), "/k", value); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "etcd/member/wal/0000000000000000-0000000000000000.wal")
			log, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			log = c.damage(log)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if log != nil {
				if err := os.WriteFile(path, log, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, err = store.Open(context.Background(), dir)
			if err == nil {
				_ = s.Close()
				t.Fatal("it opened")
			}
			for _, want := range []string{filepath.Dir(path), "is damaged", c.want, "restore " + dir} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if got, _ := os.ReadFile(path); !bytes.Equal(got, log) {
				t.Error("the log was changed")
			}
		})
	}
}

func TestAFIFOInTheStoreIsNotWaitedFor(t *testing.T) {
	for _, name := range []string{"etcd/member/snap/db", "etcd/member/wal/0000000000000000-0000000000000000.wal"} {
		dir := t.TempDir()
		if err := open(t, dir).Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(context.Background(), dir)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: opened with %v", name, err)
		}
	}
}
