package removal_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/node/removal"
)

// full is a directory with folders in it, and a decoy beside it.
func full(t *testing.T, folders ...string) (dir string) {
	t.Helper()
	base := t.TempDir()
	for _, folder := range append(folders, "../decoy") {
		if err := os.MkdirAll(filepath.Join(base, "dir", folder, "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(base, "dir")
}

func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestFoldersGoAtTheirTimeAndAtOnceWhenTheNodeStops(t *testing.T) {
	for sentence, stopped := range map[string]time.Duration{"the node runs on": time.Hour, "the node stops": time.Second} {
		t.Run(sentence, func(t *testing.T) {
			dir := full(t, "lingers", "stays")
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), stopped)
				defer cancel()
				queue := removal.New(dir, time.Minute, nil)
				began := time.Now()
				queue.Add("lingers", began.Add(10*time.Second))
				queue.Close()
				queue.Run(ctx)
				if took := time.Since(began); took != min(stopped, 10*time.Second) {
					t.Errorf("it was gone after %s", took)
				}
			})
			if diff := cmp.Diff([]string{"stays"}, left(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatTakesTooLongIsLeftForTheNextStart(t *testing.T) {
	dir := full(t, "first", "second")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		queue := removal.New(dir, time.Minute, func(leaving context.Context, _ string) {
			cancel()
			<-leaving.Done()
		})
		queue.Add("first", time.Time{})
		queue.Add("second", time.Time{})
		queue.Close()
		queue.Run(ctx)
	})
	if diff := cmp.Diff([]string{"first", "second"}, left(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestNothingOutsideTheDirectoryGoes(t *testing.T) {
	dir := full(t, "stays")
	for _, folder := range []string{"../decoy", "..", ".", "", dir + "/../decoy"} {
		if err := removal.New(dir, time.Minute, nil).Remove(t.Context(), folder); err == nil {
			t.Errorf("%q was removed", folder)
		}
	}
	if diff := cmp.Diff([]string{"decoy", "dir"}, left(t, filepath.Dir(dir))); diff != "" {
		t.Error(diff)
	}
}
