package rundir_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/rundir"
)

// made returns the run directory of a data directory, and removes it after the test.
func made(t *testing.T, dataDir string) string {
	t.Helper()
	dir, err := rundir.FindOrMake(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rundir.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
	return dir
}

func plant(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestARunDirectoryIsFoundAgain(t *testing.T) {
	data := t.TempDir()
	if _, err := rundir.Find(data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before there is one it is found with %v", err)
	}
	dir := made(t, data)
	if again := made(t, data); again != dir {
		t.Errorf("first %s, then %s", dir, again)
	}
	if found, err := rundir.Find(data); err != nil || found != dir {
		t.Errorf("found %s, %v; want %s", found, err, dir)
	}
}

func TestConcurrentCallsGetTheSameRunDirectory(t *testing.T) {
	data := t.TempDir()
	found := make([]string, 16)
	var all sync.WaitGroup
	for i := range found {
		all.Go(func() { found[i], _ = rundir.FindOrMake(data) })
	}
	all.Wait()
	dir := made(t, data)
	for _, f := range found {
		if f != dir {
			t.Errorf("one got %q, another %q", f, dir)
		}
	}
}

// Files of a data directory are not trusted: another user or a pod may have written them.
func TestOnlyWhatStintMadeForTheDataDirectoryIsTaken(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, data, run string) error{
		"the path of another directory": func(t *testing.T, data, _ string) error {
			decoy := t.TempDir()
			plant(t, filepath.Join(decoy, "data-directory"), data)
			return os.WriteFile(filepath.Join(data, rundir.PointerName), []byte(decoy), 0o600)
		},
		"a name that climbs": func(t *testing.T, data, run string) error {
			return os.WriteFile(filepath.Join(data, rundir.PointerName), []byte("../"+filepath.Base(run)), 0o600)
		},
		"no name": func(t *testing.T, data, _ string) error {
			return os.WriteFile(filepath.Join(data, rundir.PointerName), nil, 0o600)
		},
		"a directory without a mark": func(t *testing.T, data, run string) error {
			return os.Remove(filepath.Join(run, "data-directory"))
		},
		"a directory with the mark of another": func(t *testing.T, data, run string) error {
			other := t.TempDir()
			plant(t, filepath.Join(other, rundir.PointerName), filepath.Base(run))
			return os.WriteFile(filepath.Join(run, "data-directory"), []byte(other), 0o600)
		},
		"a directory with a mark that is no path": func(t *testing.T, data, run string) error {
			return os.WriteFile(filepath.Join(run, "data-directory"), []byte("x"), 0o600)
		},
		"a directory with a mark that is a link": func(t *testing.T, data, run string) error {
			mark := filepath.Join(run, "data-directory")
			plant(t, filepath.Join(data, "mark"), data)
			return errors.Join(os.Remove(mark), os.Symlink(filepath.Join(data, "mark"), mark))
		},
		"a directory that others may write to": func(t *testing.T, data, run string) error { return os.Chmod(run, 0o777) },
		"a directory of another user": func(t *testing.T, data, run string) error {
			if os.Geteuid() != 0 {
				t.Skip("needs root to give a directory away")
			}
			return os.Chown(run, 12345, -1)
		},
		"a link to a directory": func(t *testing.T, data, run string) error {
			decoy := t.TempDir()
			plant(t, filepath.Join(decoy, "data-directory"), data)
			return errors.Join(rundir.Remove(run), os.Symlink(decoy, run))
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			run, err := rundir.FindOrMake(data)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = os.Remove(filepath.Join(run, "data-directory"))
				if err := os.Remove(run); err != nil {
					t.Error(err)
				}
			})
			if err := change(t, data, run); err != nil {
				t.Fatal(err)
			}
			if found, err := rundir.Find(data); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("found %q, %v", found, err)
			}
			if fresh := made(t, data); fresh == run {
				t.Errorf("%s was taken", run)
			}
		})
	}
}

// The host writes the mark again while control planes look for the directory.
func TestARunDirectoryIsFoundWhileItIsMarked(t *testing.T) {
	data := t.TempDir()
	dir := made(t, data)
	var marking sync.WaitGroup
	var over atomic.Bool
	marking.Go(func() {
		for !over.Load() {
			if err := rundir.Mark(dir, data); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 5000 {
		if found, err := rundir.Find(data); err != nil || found != dir {
			t.Errorf("found %q, %v", found, err)
			break
		}
	}
	over.Store(true)
	marking.Wait()
}

func TestADataDirectoryThatWasMovedKeepsItsRunDirectory(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, moved := made(t, data), data+"-moved"
	if err := os.Rename(data, moved); err != nil {
		t.Fatal(err)
	}
	if now := made(t, moved); now != dir {
		t.Errorf("first %s, then %s", dir, now)
	}
}

func TestAPointerThatIsNoFileIsNamed(t *testing.T) {
	for name, plantIt := range map[string]func(path string) error{
		"a FIFO":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a link":      func(path string) error { return os.Symlink("/dev/zero", path) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			path := filepath.Join(data, rundir.PointerName)
			if err := plantIt(path); err != nil {
				t.Fatal(err)
			}
			if _, err := rundir.FindOrMake(data); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("made with %v", err)
			}
		})
	}
}

func TestRemoveTakesOnlyTheFilesThatItIsTold(t *testing.T) {
	data := t.TempDir()
	dir, err := rundir.FindOrMake(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"journal", "of-another"} {
		plant(t, filepath.Join(dir, name), "")
	}
	if err := rundir.Remove(dir, "journal", "absent"); err == nil || !strings.Contains(err.Error(), "it contains of-another") {
		t.Errorf("removed with %v", err)
	}
	if found, err := rundir.Find(data); err != nil || found != dir {
		t.Errorf("afterwards it is found as %q, %v", found, err)
	}
	if err := rundir.Remove(dir, "of-another"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// A second run directory would mean a second host.
func TestNoOtherIsMadeWhileTheRunDirectoryCannotBeLookedAt(t *testing.T) {
	data := t.TempDir()
	dir := made(t, data)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	pointer, err := os.Open(filepath.Join(data, rundir.PointerName))
	if err != nil {
		t.Fatal(err)
	}
	// One descriptor is free, so that the pointer can be opened and the mark cannot.
	few := limit
	few.Cur = uint64(pointer.Fd()) + 1
	pointer.Close()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	found, err := rundir.FindOrMake(data)
	if back := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); back != nil {
		t.Fatal(back)
	}
	if !errors.Is(err, unix.EMFILE) {
		t.Errorf("found %q, %v, want too many open files", found, err)
	}
	if found, err := rundir.Find(data); err != nil || found != dir {
		t.Errorf("afterwards %q, %v", found, err)
	}
}

func TestADataDirectoryHasLeftItsRunDirectory(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, data, run string) error
		want   bool
	}{
		"not at first":               {func(*testing.T, string, string) error { return nil }, false},
		"not when it is moved":       {func(t *testing.T, data, _ string) error { return os.Rename(data, filepath.Join(t.TempDir(), "data")) }, false},
		"when it is deleted":         {func(_ *testing.T, data, _ string) error { return os.RemoveAll(data) }, true},
		"when the pointer is gone":   {func(_ *testing.T, data, _ string) error { return os.Remove(filepath.Join(data, rundir.PointerName)) }, true},
		"when it leaves":             {func(_ *testing.T, data, run string) error { return rundir.Leave(data, run) }, true},
		"not when it leaves another": {func(_ *testing.T, data, run string) error { return rundir.Leave(data, run+"0") }, false},
		"when another directory is in its place": {func(_ *testing.T, data, run string) error {
			return errors.Join(os.RemoveAll(data), os.Mkdir(data, 0o700), os.WriteFile(filepath.Join(data, rundir.PointerName), []byte(filepath.Base(run)), 0o600))
		}, true},
		"not when that cannot be found out": {func(_ *testing.T, data, _ string) error {
			pointer := filepath.Join(data, rundir.PointerName)
			return errors.Join(os.Remove(pointer), os.Symlink("/dev/zero", pointer))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			if err := os.Mkdir(data, 0o700); err != nil {
				t.Fatal(err)
			}
			run := made(t, data)
			owner, err := rundir.OpenOwner(data, run)
			if err != nil {
				t.Fatal(err)
			}
			defer owner.Close()
			if id, err := rundir.ID(data); err != nil || id != owner.ID() {
				t.Errorf("it is %s by its path, %v, and %s", id, err, owner.ID())
			}
			if err := test.change(t, data, run); err != nil {
				t.Fatal(err)
			}
			if got := owner.HasLeft(); got != test.want {
				t.Errorf("HasLeft() = %v", got)
			}
		})
	}
}

func TestOthersAreThoseOfDirectoriesThatWereAtThePath(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	var runs []string
	for range 2 {
		if err := errors.Join(os.RemoveAll(data), os.Mkdir(data, 0o700)); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, made(t, data))
	}
	made(t, t.TempDir())
	if others := rundir.Others(data, runs[1]); !slices.Equal(others, runs[:1]) {
		t.Errorf("others are %q, want %q", others, runs[:1])
	}
}
