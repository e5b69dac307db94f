package store

import (
	"context"
	"errors"
	"os"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"
)

// addFetched downloads a layer, and unpacks it while it is downloaded. If the download is interrupted, the next pull continues
// it, also that of another program; Prune removes the part.
func (s *Store) addFetched(ctx context.Context, id v1.Hash, files string, l Layer, report func(int64)) error {
	part, err := s.part(l.Digest)
	if err != nil {
		return err
	}
	defer part.Close()
	a := newIncomingLayer(part)
	var fetching sync.WaitGroup
	defer fetching.Wait()
	fetching.Go(func() {
		a.end(l.Fetch(ctx, part, func(done int64) {
			a.setDone(done)
			report(done)
		}))
	})
	unpacked, err := unpackIncoming(ctx, id, files, a)
	if err != nil {
		return err
	}
	if ctx.Err() == nil {
		_ = os.Remove(part.Name()) // The layer is unpacked, or cannot be unpacked.
	}
	return unpacked
}

// unpackIncoming unpacks a layer while it is downloaded. It returns the error of unpacking and that of the download. The error
// of unpacking counts only once the download is verified: before that, wrong bytes may have caused it.
func unpackIncoming(ctx context.Context, id v1.Hash, files string, a *incomingLayer) (unpacked, err error) {
	for {
		in := a.reader()
		unpacked = unpack(ctx, id, files, in)
		if err = in.outcome(); !errors.Is(err, errRestarted) {
			return unpacked, err
		}
	}
}

// part opens the file into which a layer is downloaded. While another pull downloads the same layer, this one gets a file of
// its own, which is gone when it is closed.
func (s *Store) part(digest v1.Hash) (*os.File, error) {
	path := s.path(workName, nameOf(digest)+".part")
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
