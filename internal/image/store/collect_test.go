package store_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/test/images"
)

// big is a layer of about this many MiB.
func big(t *testing.T, name string, mib int) v1.Layer {
	return images.Layer(t, map[string]images.File{name: {Content: strings.Repeat(name, mib<<20/len(name)), Mode: 0o644}})
}

// limited is a policy by which only the limit causes images to be removed.
func limited(mib int64) store.GCPolicy {
	return store.GCPolicy{HighThreshold: 100, LowThreshold: 1, Limit: mib << 20}
}

func collect(t *testing.T, s *store.Store, p store.GCPolicy, inUse ...string) store.Collected {
	t.Helper()
	c, err := s.Collect(t.Context(), p, inUse)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func names(t *testing.T, s *store.Store) (all []string) {
	t.Helper()
	list, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		all = append(all, i.Name)
	}
	return all
}

func wantNames(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("there are the names %q, want %q", got, want)
	}
}

func TestImagesThatWereNotUsedForTheLongestTimeGoFirst(t *testing.T) {
	s, dir := open(t)
	base := big(t, "base", 1)
	a := add(t, s, "a:1", images.Image(t, v1.Config{}, base, big(t, "a", 4)))
	add(t, s, "b:1", images.Image(t, v1.Config{}, base, big(t, "b", 4)))
	add(t, s, "b:2", images.Image(t, v1.Config{User: "1"}, base, big(t, "b", 4)))
	add(t, s, "c:1", images.Image(t, v1.Config{}, base, big(t, "c", 4)))
	if c := collect(t, s, limited(20)); c.Images != nil || c.Lacking != 0 {
		t.Errorf("Collect() = %+v, and the limit is kept", c)
	}
	if err := s.Touch(a); err != nil {
		t.Fatal(err)
	}
	c := collect(t, s, limited(10))
	wantNames(t, c.Images, "b:1", "b:2")
	wantNames(t, names(t, s), "a:1", "c:1")
	if layers, trees, configs := entries(t, dir, "layers*"), entries(t, dir, "trees*"), entries(t, dir, "configs"); layers != 3 || trees != 2 || configs != 2 || c.Lacking != 0 {
		t.Errorf("%d layers, %d trees, %d configs are left, %d bytes lack", layers, trees, configs, c.Lacking)
	}
	wantNames(t, collect(t, s, limited(6)).Images, "c:1")
	if text, err := os.ReadFile(filepath.Join(s.Tree(a), "base")); err != nil || len(text) != 1<<20 {
		t.Errorf("the image that stays has %d bytes, %v", len(text), err)
	}
	if n := entries(t, dir, "work"); n != 0 {
		t.Errorf("%d are left in work", n)
	}
}

func TestWhatContainersRunFromAndWhatWasUsedJustNowStays(t *testing.T) {
	s, _ := open(t)
	inUse := add(t, s, "in-use:1", images.Image(t, v1.Config{}, big(t, "a", 2)))
	add(t, s, "idle:1", images.Image(t, v1.Config{}, big(t, "b", 2)))
	lock := lockTree(t, s.Tree(inUse))
	young := limited(1)
	young.MinAge = time.Hour
	if c := collect(t, s, young); c.Images != nil || c.Lacking < 3<<20 {
		t.Errorf("Collect() = %+v", c)
	}
	c := collect(t, s, limited(1))
	wantNames(t, c.Images, "idle:1")
	if c.Lacking < 1<<20 {
		t.Errorf("%d bytes lack", c.Lacking)
	}
	lock.Close()
	wantNames(t, collect(t, s, limited(1)).Images, "in-use:1")
}

func lockTree(t *testing.T, tree string) *os.File {
	t.Helper()
	lock, err := os.Open(tree)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	return lock
}

// An image that a container runs from is used until the container ends.
func TestWhatIsInUseIsUsedNow(t *testing.T) {
	s, _ := open(t)
	first := add(t, s, "first:1", images.Image(t, v1.Config{}, big(t, "a", 2)))
	add(t, s, "second:1", images.Image(t, v1.Config{}, big(t, "b", 2)))
	add(t, s, "third:1", images.Image(t, v1.Config{}, big(t, "c", 2)))
	lock := lockTree(t, s.Tree(first))
	wantNames(t, collect(t, s, limited(5)).Images, "second:1")
	lock.Close()
	wantNames(t, collect(t, s, limited(3), "first:1", "unknown:1").Images, "third:1")
	if c := collect(t, s, limited(1), "first:1"); c.Images != nil {
		t.Errorf("Collect() = %+v, and the image is in use", c)
	}
}

// The size of a layer or tree that an earlier version has made, without a note, is computed.
func TestTheSizeOfWhatHasNoNote(t *testing.T) {
	s, dir := open(t)
	add(t, s, "a:1", images.Image(t, v1.Config{}, big(t, "a", 2), images.Layer(t, map[string]images.File{"b": {Content: "b", Mode: 0o644}})))
	notes, err := filepath.Glob(filepath.Join(dir, "*", "*", "size"))
	if err != nil || len(notes) != 3 {
		t.Fatal(notes, err)
	}
	for _, note := range notes {
		if err := os.Remove(note); err != nil {
			t.Fatal(err)
		}
	}
	if c := collect(t, s, limited(3)); c.Images != nil {
		t.Errorf("Collect() = %+v", c)
	}
	wantNames(t, collect(t, s, limited(1)).Images, "a:1")
}

func TestThresholdsAreOfTheFileSystem(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("none", disk, "tmpfs", 0, "size=64m,mode=700"); err != nil {
		t.Skipf("needs root to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	s, err := store.Open(filepath.Join(disk, "store"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		add(t, s, name+":1", images.Image(t, v1.Config{}, big(t, name, 12)))
	}
	if c := collect(t, s, store.GCPolicy{HighThreshold: 80, LowThreshold: 10}); c.Images != nil || c.Lacking != 0 {
		t.Errorf("below the high threshold: Collect() = %+v", c)
	}
	wantNames(t, collect(t, s, store.GCPolicy{HighThreshold: 50, LowThreshold: 30}).Images, "a:1", "b:1")
	if err := os.WriteFile(filepath.Join(disk, "other"), make([]byte, 40<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	c := collect(t, s, store.GCPolicy{HighThreshold: 50, LowThreshold: 30})
	wantNames(t, c.Images, "c:1")
	if c.Lacking < 7<<20 || c.Lacking > 10<<20 {
		t.Errorf("%d bytes lack", c.Lacking)
	}
	if c := collect(t, s, store.GCPolicy{HighThreshold: 100, LowThreshold: 100}); c.Lacking != 0 {
		t.Errorf("without thresholds: Collect() = %+v", c)
	}
}
