package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"
)

// item is a layer or tree.
type item struct {
	kind string
	id   v1.Hash
	// registry is where a layer comes from; empty for what is on this machine.
	registry string
}

func (i item) name() string { return i.kind + "-" + nameOf(i.id) }

// nameAtRegistry differs from registry to registry. None can hold up a layer that another one sends, too.
func (i item) nameAtRegistry() string { return i.name() + "-" + hashOf(i.registry).Hex[:16] }

// getOrBuild returns a layer or tree, which is not removed until it is closed. If it is missing, do fills it. If another program is
// making it of what the same registry sends, getOrBuild waits for that.
func (s *Store) getOrBuild(ctx context.Context, i item, do func(files string) error) (*os.File, error) {
	if dir := s.hold(i.kind, i.id); dir != nil {
		return dir, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	release, err := s.claim(ctx, i.nameAtRegistry())
	if err != nil {
		return nil, err
	}
	defer release()
	if dir := s.hold(i.kind, i.id); dir != nil {
		return dir, nil
	}
	return s.build(ctx, i, do)
}

// hold returns a layer or tree, which is not removed until it is closed; nil if it is missing or being removed.
func (s *Store) hold(kind string, id v1.Hash) *os.File {
	path := s.path(kind, nameOf(id))
	if _, err := os.Lstat(s.path(kind, nameOf(id), filesName)); err != nil {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	if flock(dir, unix.LOCK_SH|unix.LOCK_NB) == nil && isAt(dir, path) {
		return dir
	}
	dir.Close()
	return nil
}

// claim waits until no other program has the claim of that name, and keeps others from having it until release is called.
func (s *Store) claim(ctx context.Context, name string) (release func(), err error) {
	path := s.path(workName, name+".claim")
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := await(ctx, f); err != nil {
			return nil, err
		}
		// The program that had the lock before may have removed the file.
		if isAt(f, path) {
			return func() { os.Remove(path); f.Close() }, nil
		}
		f.Close()
	}
}

// claimPause is how long a program waits until it tries again to get a claim.
const claimPause = 50 * time.Millisecond

// await locks f, or closes it if ctx ends before. A thread that waits in the kernel could not be ended with ctx.
func await(ctx context.Context, f *os.File) error {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	for errors.Is(err, unix.EWOULDBLOCK) {
		select {
		case <-ctx.Done():
			f.Close()
			return context.Cause(ctx)
		case <-time.After(claimPause):
			err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
		}
	}
	if err != nil {
		f.Close()
	}
	return err
}

// isAt reports whether a file still has its name.
func isAt(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, named)
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// lock locks the file of that name in the store until unlock is called.
func (s *Store) lock(name string, how int) (unlock func(), err error) {
	f, err := os.OpenFile(s.path(name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f, how); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the image store: %w", err)
	}
	return func() { f.Close() }, nil
}

var errInUse = errors.New("containers run from it, or an image is being made of it")

// moveAway moves a layer or tree to the work directory, where no program finds it any more, and returns its new name. It fails with
// errInUse if the layer or tree is in use.
func (s *Store) moveAway(kind, name string) (taken string, err error) {
	for _, path := range []string{s.path(kind, name), s.path(kind, name, filesName)} {
		dir, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // An earlier version had the files in the first directory.
		}
		if err != nil {
			return "", err
		}
		defer dir.Close()
		if flock(dir, unix.LOCK_EX|unix.LOCK_NB) != nil {
			return "", errInUse
		}
	}
	aside, err := os.MkdirTemp(s.path(workName), name+".")
	if err != nil {
		return "", err
	}
	return filepath.Base(aside), unix.Rename(s.path(kind, name), aside)
}
