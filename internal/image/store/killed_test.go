package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/images"
)

// unfinished is the directory in which a layer is being unpacked.
func unfinished(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(filepath.Join(dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, fs.DirEntry.IsDir)
	if at < 0 {
		t.Fatalf("work has %v", all)
	}
	return filepath.Join(dir, "work", all[at].Name())
}

// A program that is killed again and again must not fill the disk with unfinished layers.
func TestWhatAKilledProgramHasUnpackedGoesWithTheNextTry(t *testing.T) {
	s, dir := open(t)
	slow := wait(layer(t, "slow"))
	image := layersImage{images.Image(t, v1.Config{}, slow.Layer), []v1.Layer{slow}}
	ended := adding(t, s, "a:1", image)
	await.Value(t, "the layer is read", slow.begun)
	left := unfinished(t, dir)
	close(slow.goOn)
	if err := await.Value(t, "the image is added", ended); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove("a:1"); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Prune(t.Context()); err != nil || p.Layers != 1 {
		t.Fatalf("Prune() = %+v, %v", p, err)
	}
	for _, other := range []string{left, left + "0"} {
		if err := os.MkdirAll(filepath.Join(other, "files", "half"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	add(t, s, "a:1", image)
	if n := entries(t, dir, "work"); n != 0 {
		t.Errorf("%d are left in work", n)
	}
}
