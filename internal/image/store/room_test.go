package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/images"
	"github.com/stint-dev/stint/test/smalldisk"
)

func openOn(t *testing.T, disk string) (*store.Store, string) {
	t.Helper()
	dir := filepath.Join(disk, "store")
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func TestThePartOfALayerGoesWhenTheDiskIsFull(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "part", Err: unix.ENOSPC}
	smalldisk.Run(t, 64, func(disk string) {
		other := filepath.Join(disk, "other")
		for what, how := range map[string]fetching{
			"another program takes all": func(_ context.Context, file *os.File, report func(int64)) error {
				write(t, file, report, make([]byte, 1<<20))
				smalldisk.Fill(t, other, 61)
				return full
			},
			"another program leaves only the reserve": func(ctx context.Context, file *os.File, report func(int64)) error {
				write(t, file, report, make([]byte, 1<<20))
				smalldisk.Fill(t, other, 60)
				write(t, file, report, make([]byte, 2<<20))
				<-ctx.Done()
				return ctx.Err()
			},
		} {
			s, dir := openOn(t, disk)
			_, err := fetch(t, s, large(t), how)
			if !filesystem.IsFull(err) || !strings.Contains(err.Error(), "make room") {
				t.Errorf("%s: Add() = %v", what, err)
			}
			if n := entries(t, dir, "work"); n != 0 {
				t.Errorf("%s: %d are left in work", what, n)
			}
			if err := os.Remove(other); err != nil {
				t.Error(err)
			}
		}
	})
}

// announcing returns an image of one layer that is said to have so many MiB.
func announcing(t *testing.T, name string, mib int64, how fetching) store.Source {
	t.Helper()
	from := source(t, images.Image(t, v1.Config{}, layer(t, name)))
	from.Layers[0].Open, from.Layers[0].Fetch, from.Layers[0].Size = nil, how, mib<<20
	return from
}

func TestImagesThatArePulledAtTheSameTimeMustFitTogether(t *testing.T) {
	smalldisk.Run(t, 64, func(disk string) {
		s, _ := openOn(t, disk)
		broken := errors.New("broken")
		begun, goOn := make(chan bool, 1), make(chan bool)
		slow := announcing(t, "slow", 40, func(_ context.Context, file *os.File, report func(int64)) error {
			write(t, file, report, make([]byte, 10<<20))
			begun <- true
			<-goOn
			return broken
		})
		fails := func(context.Context, *os.File, func(int64)) error { return broken }
		ended := make(chan error, 1)
		go func() {
			_, err := s.Add(context.Background(), "slow:1", slow, nil)
			ended <- err
		}()
		await.Value(t, "the first image is being fetched", begun)
		if _, err := s.Add(t.Context(), "b:1", announcing(t, "b", 15, fails), nil); !errors.Is(err, broken) {
			t.Errorf("an image that fits: Add() = %v", err)
		}
		want := "the image needs 35 MiB, images that are being pulled need 30 MiB, and 54 MiB are free"
		if _, err := s.Add(t.Context(), "b:1", announcing(t, "b", 35, fails), nil); !filesystem.IsFull(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("an image that does not fit: Add() = %v", err)
		}
		hostile := announcing(t, "slow", 1<<20, fails)
		if _, err := s.Add(t.Context(), "hostile:1", hostile, nil); !filesystem.IsFull(err) {
			t.Errorf("an image that states another size of the layer that is being fetched: Add() = %v", err)
		}
		close(goOn)
		if err := await.Value(t, "the first pull ends", ended); !errors.Is(err, broken) {
			t.Errorf("the first image: Add() = %v", err)
		}
		if _, err := s.Add(t.Context(), "b:1", announcing(t, "b", 35, fails), nil); !errors.Is(err, broken) {
			t.Errorf("after the other pull: Add() = %v", err)
		}
		// 10 MiB are there.
		if _, err := s.Add(t.Context(), "slow:1", announcing(t, "slow", 59, fails), nil); !errors.Is(err, broken) {
			t.Errorf("an image that fits with its part from an earlier try: Add() = %v", err)
		}
	})
}

func TestWhatIsLeftOfAPullGoesIfAnImageDoesNotFit(t *testing.T) {
	smalldisk.Run(t, 64, func(disk string) {
		s, dir := openOn(t, disk)
		broken := errors.New("broken")
		left := announcing(t, "left", 50, func(_ context.Context, file *os.File, report func(int64)) error {
			for range 40 {
				write(t, file, report, make([]byte, 1<<20))
			}
			return broken
		})
		if _, err := s.Add(t.Context(), "left:1", left, nil); !errors.Is(err, broken) || entries(t, dir, "work") != 1 {
			t.Fatalf("Add() = %v, %d are in work", err, entries(t, dir, "work"))
		}
		image := announcing(t, "b", 40, func(context.Context, *os.File, func(int64)) error { return broken })
		if _, err := s.Add(t.Context(), "b:1", image, nil); !filesystem.IsFull(err) {
			t.Errorf("Add() = %v", err)
		}
		if _, err := s.Add(t.Context(), "b:1", image, nil); !errors.Is(err, broken) {
			t.Errorf("at the next try: Add() = %v", err)
		}
	})
}

func TestMakeRoomRemovesPartsThatNoProgramDownloads(t *testing.T) {
	smalldisk.Run(t, 64, func(disk string) {
		s, dir := openOn(t, disk)
		smalldisk.Fill(t, filepath.Join(dir, "work", "sha256-idle.part"), 40)
		begun, goOn := make(chan bool, 1), make(chan bool)
		l := layer(t, "slow")
		slow := announcing(t, "slow", 1, func(_ context.Context, file *os.File, report func(int64)) error {
			begun <- true
			<-goOn
			write(t, file, report, packed(t, l))
			return nil
		})
		ended := make(chan error, 1)
		go func() {
			_, err := s.Add(context.Background(), "slow:1", slow, nil)
			ended <- err
		}()
		await.Value(t, "an image is being fetched", begun)
		if err := s.MakeRoom(t.Context()); err != nil {
			t.Error(err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "work", "*.part")); err != nil || len(left) != 1 || strings.Contains(left[0], "idle") {
			t.Errorf("the parts are %v, %v", left, err)
		}
		close(goOn)
		if err := await.Value(t, "the image is added", ended); err != nil {
			t.Error(err)
		}
	})
}
