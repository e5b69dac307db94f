package filetree_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filetree"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *os.File {
	t.Helper()
	top, err := os.Open(dir)
	must(t, err)
	t.Cleanup(func() { top.Close() })
	return top
}

// visited returns the names that are visited below dir, sorted.
func visited(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	walk := filetree.Walk{Visit: func(in *os.File, name string, _ *unix.Stat_t) error {
		if name == "." {
			name = in.Name() + "/"
		}
		names = append(names, name)
		return nil
	}}
	must(t, walk.Below(t.Context(), open(t, dir)))
	slices.Sort(names)
	return names
}

func TestAllBelowIsVisitedOnce(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "a/b"), 0o755))
	must(t, os.Mkdir(filepath.Join(dir, "c"), 0o755))
	for _, file := range []string{"f", "a/g", "a/b/h", "c/i"} {
		must(t, os.WriteFile(filepath.Join(dir, file), nil, 0o600))
	}
	must(t, os.WriteFile(filepath.Join(outside, "not"), nil, 0o600))
	must(t, os.Symlink(outside, filepath.Join(dir, "c/link")))
	if got, want := visited(t, dir), []string{"a/", "b/", "c/", "f", "g", "h", "i", "link"}; !slices.Equal(got, want) {
		t.Errorf("visited %v, want %v", got, want)
	}
}

func TestWhatIsMountedIsLeftOut(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "not"), nil, 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "point"), 0o755))
	if err := unix.Mount(outside, filepath.Join(dir, "point"), "", unix.MS_BIND, ""); err != nil {
		t.Skipf("needs root to mount: %v", err)
	}
	got := visited(t, dir)
	must(t, unix.Unmount(filepath.Join(dir, "point"), unix.MNT_DETACH))
	if len(got) > 0 {
		t.Errorf("visited %v", got)
	}
}

func TestAWalkEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "a/b/c"), 0o755))
	ctx, cancel := context.WithCancel(t.Context())
	visits := 0
	walk := filetree.Walk{Visit: func(*os.File, string, *unix.Stat_t) error {
		visits++
		cancel()
		return nil
	}}
	if err := walk.Below(ctx, open(t, dir)); !errors.Is(err, context.Canceled) || visits != 1 {
		t.Errorf("ended with %v after %d visits", err, visits)
	}
}
