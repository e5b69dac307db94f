package store

import (
	"context"
	"errors"
	"os"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filesystem"
)

// addFetched downloads a layer, and unpacks it while it is downloaded. If the download is interrupted, the next pull continues
// it, also that of another program; Prune removes the part. It goes at once if it is empty, and if there is not enough space.
func (s *Store) addFetched(ctx context.Context, id v1.Hash, files string, l Layer, report func(int64)) error {
	part, err := s.part(l.Digest)
	if err != nil {
		return err
	}
	defer part.Close()
	a := newIncomingLayer(part)
	stop := s.fetch(ctx, l, a, report)
	unpacked, err := s.unpackIncoming(ctx, id, files, a)
	stop()
	if length(part) == 0 || filesystem.IsFull(err) || filesystem.IsFull(context.Cause(ctx)) {
		_ = os.Remove(part.Name())
	}
	if err != nil {
		return err
	}
	if ctx.Err() == nil {
		_ = os.Remove(part.Name()) // The layer is unpacked, or cannot be unpacked.
	}
	return unpacked
}

// fetch downloads a layer in the background. It ends when only the reserve of the file system is left, or when stop is called,
// which waits for the end.
func (s *Store) fetch(ctx context.Context, l Layer, a *incomingLayer, report func(int64)) (stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	guard := filesystem.NewGuard(s.dir)
	done := length(a.file)
	var fetching sync.WaitGroup
	fetching.Go(func() {
		err := l.Fetch(ctx, a.file, func(now int64) {
			if err := guard.Take(max(now-done, 0)); err != nil {
				cancel(err)
			}
			done = now
			a.setDone(now)
			report(now)
		})
		if cause := context.Cause(ctx); err != nil && filesystem.IsFull(cause) {
			err = cause
		}
		a.end(err)
	})
	return func() {
		cancel(nil)
		fetching.Wait()
	}
}

// length returns how many bytes a file has; 0 if that is unknown.
func length(file *os.File) int64 {
	info, err := file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// unpackIncoming unpacks a layer while it is downloaded. It returns the error of unpacking and that of the download. The error
// of unpacking counts only once the download is verified: before that, wrong bytes may have caused it. If there is not enough space,
// it counts at once.
func (s *Store) unpackIncoming(ctx context.Context, id v1.Hash, files string, a *incomingLayer) (unpacked, err error) {
	for {
		in := a.reader()
		unpacked = s.unpack(ctx, id, files, in)
		if filesystem.IsFull(unpacked) {
			return unpacked, nil
		}
		if err = in.outcome(); !errors.Is(err, errRestarted) {
			return unpacked, err
		}
	}
}

// partSuffix ends the names of files into which layers are downloaded.
const partSuffix = ".part"

func (s *Store) partPath(digest v1.Hash) string { return s.path(workName, nameOf(digest)+partSuffix) }

// part opens the file into which a layer is downloaded. While another pull downloads the same layer, this one gets a file of
// its own, which is gone when it is closed.
func (s *Store) part(digest v1.Hash) (*os.File, error) {
	path := s.partPath(digest)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && isAt(f, path) {
		return f, nil
	}
	f.Close()
	own, err := os.CreateTemp(s.path(workName), nameOf(digest)+".")
	if err != nil {
		return nil, err
	}
	return own, os.Remove(own.Name())
}
