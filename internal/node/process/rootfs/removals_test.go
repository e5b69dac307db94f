package rootfs

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stint-dev/stint/test/await"
)

func TestRemovalsEndWithTheHostAndHoldUpNoContainer(t *testing.T) {
	began, ended := make(chan string, 1), make(chan error, 1)
	r := startRemovals(func(ctx context.Context, name string) error {
		began <- name
		<-ctx.Done() // There are too many files.
		ended <- ctx.Err()
		return ctx.Err()
	}, []string{"left"})
	if name := await.Value(t, "what was left is removed", began); name != "left" {
		t.Errorf("%q is removed", name)
	}
	for range 2 * maxIdle {
		r.add("more")
	}
	r.stop()
	await.Value(t, "the removal has ended", ended)
}

func TestWhatAFormerHostHasLeftIsSetAside(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "1", "upper"), 0o700); err != nil {
		t.Fatal(err)
	}
	left, err := setAside(dir)
	if err != nil || len(left) != 1 {
		t.Fatalf("set aside are %q, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(dir, left[0], "upper")); err != nil || left[0] == "1" {
		t.Errorf("it is now %q: %v", left[0], err)
	}
}
