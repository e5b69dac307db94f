package diskusage_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/diskusage"
)

const mib = 1 << 20

func size(t testing.TB, path string) int64 {
	t.Helper()
	dir, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	bytes, err := diskusage.Of(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func fill(t testing.TB, path string, bytes int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, bytes), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOf(t *testing.T) {
	for sentence, c := range map[string]struct {
		make func(t *testing.T, dir, outside string)
		want int64
	}{
		"nothing": {func(*testing.T, string, string) {}, 0},
		"files on all levels": {func(t *testing.T, dir, _ string) {
			fill(t, filepath.Join(dir, "a"), mib)
			fill(t, filepath.Join(dir, "b/c/d"), mib)
			fill(t, filepath.Join(dir, "b/e"), mib)
		}, 3 * mib},
		"a file with two names": {func(t *testing.T, dir, _ string) {
			fill(t, filepath.Join(dir, "a"), mib)
			must(t, os.Mkdir(filepath.Join(dir, "b"), 0o755))
			must(t, os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b/a")))
		}, mib},
		"what is allocated, not what a file seems to have": {func(t *testing.T, dir, _ string) {
			fill(t, filepath.Join(dir, "a"), mib)
			must(t, os.Truncate(filepath.Join(dir, "a"), 100*mib))
		}, mib},
		"no link": {func(t *testing.T, dir, outside string) {
			fill(t, filepath.Join(outside, "a"), mib)
			must(t, os.Symlink(outside, filepath.Join(dir, "dir")))
			must(t, os.Symlink(filepath.Join(outside, "a"), filepath.Join(dir, "file")))
		}, 0},
		"nothing that waits": {func(t *testing.T, dir, _ string) {
			must(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
		}, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			c.make(t, dir, outside)
			// Directories and links may take some space as well.
			if got := size(t, dir); got < c.want || got > c.want+mib/2 {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}

func TestDirectoriesCount(t *testing.T) {
	dir := t.TempDir()
	before := size(t, dir)
	must(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
	var stat unix.Stat_t
	must(t, unix.Stat(filepath.Join(dir, "a"), &stat))
	if got := size(t, dir) - before; got < stat.Blocks*512 {
		t.Errorf("one more takes %d bytes, want %d", got, stat.Blocks*512)
	}
}

// The mount is a bind mount of the same file system, so its device number is the same.
func TestWhatIsMountedThereDoesNotCount(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	fill(t, filepath.Join(outside, "a"), mib)
	point := filepath.Join(dir, "point")
	must(t, os.Mkdir(point, 0o755))
	if err := unix.Mount(outside, point, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("needs root to mount: %v", err)
	}
	got := size(t, dir)
	must(t, unix.Unmount(point, unix.MNT_DETACH))
	if got >= mib {
		t.Errorf("%d bytes", got)
	}
}

// A container may nest directories deeper than the limits of open files and of path lengths.
func TestDirectoriesOfAnyDepthCount(t *testing.T) {
	dir := t.TempDir()
	here, err := os.OpenRoot(dir)
	must(t, err)
	for range 2500 {
		must(t, here.Mkdir("d", 0o700))
		next, err := here.OpenRoot("d")
		here.Close()
		must(t, err)
		here = next
	}
	before := size(t, dir)
	must(t, here.WriteFile("file", make([]byte, mib), 0o600))
	here.Close()
	if got := size(t, dir) - before; got < mib {
		t.Errorf("the file at the end takes %d bytes", got)
	}
}

// A measurement ends and counts the unchanged files while other processes rename directories.
func TestMeasuringWhileDirectoriesMove(t *testing.T) {
	dir := t.TempDir()
	fill(t, filepath.Join(dir, "still/file"), mib)
	for i := range 50 {
		fill(t, filepath.Join(dir, fmt.Sprintf("a/x/%d/y/file", i)), 1)
	}
	must(t, os.Mkdir(filepath.Join(dir, "b"), 0o755))
	done := make(chan struct{})
	var mover sync.WaitGroup
	mover.Go(func() {
		for {
			for _, to := range [][2]string{{"a/x", "b/x"}, {"b/x", "a/x"}} {
				if err := os.Rename(filepath.Join(dir, to[0]), filepath.Join(dir, to[1])); err != nil {
					t.Error(err)
					return
				}
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for range 50 {
		if got := size(t, dir); got < mib || got > 3*mib {
			t.Errorf("%d bytes", got)
		}
	}
	close(done)
	mover.Wait()
}

func BenchmarkOf(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		fill(b, filepath.Join(dir, fmt.Sprintf("%d/%d", i/100, i)), 1)
	}
	for b.Loop() {
		size(b, dir)
	}
}
