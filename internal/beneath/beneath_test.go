package beneath_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/test/unprivileged"
)

// place makes a directory that belongs to Stint, and beside it a decoy that must not be changed.
func place(t *testing.T) (ours, decoy string) {
	t.Helper()
	base := t.TempDir()
	ours, decoy = filepath.Join(base, "ours"), filepath.Join(base, "decoy")
	for _, dir := range []string{ours, decoy} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(decoy, "kept"))
	return ours, decoy
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, name string) error {
	t.Helper()
	d, err := beneath.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return d.Remove(t.Context(), name)
}

func isThere(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestRemoveTakesAllOfAnEntryAndNothingElse(t *testing.T) {
	ours, decoy := place(t)
	for i := range 3000 {
		write(t, filepath.Join(ours, "pod", fmt.Sprint(i)))
	}
	write(t, filepath.Join(ours, "pod/a/b/c"))
	write(t, filepath.Join(ours, "other/d"))
	for name, target := range map[string]string{"absolute": decoy, "relative": "../../decoy", "dangling": "/nowhere", "self": "."} {
		if err := os.Symlink(target, filepath.Join(ours, "pod", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(decoy, "kept"), filepath.Join(ours, "pod/hard")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(ours, "pod/a/b"), 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := remove(t, ours, "pod"); err != nil {
			t.Fatal(err)
		}
	}
	if isThere(t, filepath.Join(ours, "pod")) || !isThere(t, filepath.Join(ours, "other/d")) || !isThere(t, filepath.Join(decoy, "kept")) {
		t.Error("too much or too little is gone")
	}
}

func TestALinkIsRemovedAndNotWhatItLeadsTo(t *testing.T) {
	ours, decoy := place(t)
	if err := os.Symlink(decoy, filepath.Join(ours, "pod")); err != nil {
		t.Fatal(err)
	}
	if err := remove(t, ours, "pod"); err != nil {
		t.Fatal(err)
	}
	if isThere(t, filepath.Join(ours, "pod")) || !isThere(t, filepath.Join(decoy, "kept")) {
		t.Error("the link stays or its target is gone")
	}
}

func TestNamesThatLeadElsewhereAreRefused(t *testing.T) {
	ours, decoy := place(t)
	write(t, filepath.Join(ours, "a/b"))
	for _, name := range []string{"", ".", "..", "/", decoy, "../decoy", "a/b", "a/../../decoy", "a/"} {
		if err := remove(t, ours, name); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
	if !isThere(t, filepath.Join(ours, "a/b")) || !isThere(t, filepath.Join(decoy, "kept")) {
		t.Error("something is gone")
	}
}

func TestADirectoryOfOthersAndALinkToOneAreNotOpened(t *testing.T) {
	ours, decoy := place(t)
	link := filepath.Join(ours, "link")
	if err := os.Symlink(decoy, link); err != nil {
		t.Fatal(err)
	}
	if _, err := beneath.Open(link); err == nil {
		t.Error("a link was followed")
	}
	if err := os.Chown(decoy, 12345, -1); err != nil {
		t.Skipf("needs root to give a directory away: %v", err)
	}
	if _, err := beneath.Open(decoy); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
		t.Errorf("opened with %v", err)
	}
}

// The mount is a bind mount of the same file system, so its device number is the same.
func TestWhatIsMountedThereIsLeftAlone(t *testing.T) {
	ours, decoy := place(t)
	point := filepath.Join(ours, "pod/volume")
	write(t, filepath.Join(ours, "pod/a/file"))
	if err := os.Mkdir(point, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(decoy, point, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("needs root to mount: %v", err)
	}
	err := remove(t, ours, "pod")
	if unmount := unix.Unmount(point, unix.MNT_DETACH); unmount != nil {
		t.Fatal(unmount)
	}
	if err == nil || !strings.Contains(err.Error(), point+" is left as it is: something is mounted there") {
		t.Errorf("removed with %v", err)
	}
	if !isThere(t, filepath.Join(decoy, "kept")) {
		t.Error("what was mounted is gone")
	}
	if err := remove(t, ours, "pod"); err != nil || isThere(t, filepath.Join(ours, "pod")) {
		t.Errorf("not removed once it is unmounted: %v", err)
	}
}

// A pod may nest directories deeper than the limits of open files and of path lengths.
func TestDirectoriesOfAnyDepthAreRemoved(t *testing.T) {
	ours, _ := place(t)
	nest(t, ours, 5000)
	if err := remove(t, ours, "d"); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(ours)
	if err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestDirectoriesThatTheirOwnerMayNotWriteToAreRemovedAtAnyDepth(t *testing.T) {
	ours, _ := place(t)
	deep := filepath.Join(ours, "d"+strings.Repeat("/d", 200))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := deep; dir != ours; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	if err := remove(t, ours, "d"); err != nil {
		t.Fatal(err)
	}
}

// Root may write to all directories.
func TestRemovalByAUserWithoutRights(t *testing.T) {
	unprivileged.Run(t, "^TestDirectoriesThatTheirOwnerMayNotWriteToAreRemovedAtAnyDepth$")
}

func TestWhatARemovalLeavesIsRemovedByTheNext(t *testing.T) {
	ours, _ := place(t)
	nest(t, ours, 500)
	d, err := beneath.Open(ours)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for asked := 1; ; asked++ {
		err := d.Remove(&endsWhenAsked{Context: t.Context(), times: asked}, "d")
		if err == nil && asked > 1 {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(ours)
	if err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// endsWhenAsked is a context that has ended when it is asked so many times.
type endsWhenAsked struct {
	context.Context
	times int
}

func (c *endsWhenAsked) Err() error {
	if c.times--; c.times < 0 {
		return context.Canceled
	}
	return nil
}

func TestEmptyKeepsTheDirectory(t *testing.T) {
	ours, decoy := place(t)
	write(t, filepath.Join(ours, "a/b"))
	if err := os.Symlink(decoy, filepath.Join(ours, "link")); err != nil {
		t.Fatal(err)
	}
	d, err := beneath.Open(ours)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Empty(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(ours)
	if err != nil || len(left) > 0 || !isThere(t, filepath.Join(decoy, "kept")) {
		t.Errorf("left are %v, %v", left, err)
	}
}
