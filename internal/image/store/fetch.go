package store

import (
	"context"
	"errors"
	"os"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"
)

// addFetched adds a layer that comes from elsewhere, and unpacks it while it comes. What an interruption leaves of what has come
// is gone on with by the next pull, also of another program; Prune removes it.
func (s *Store) addFetched(ctx context.Context, id v1.Hash, files string, l Layer, told func(int64)) error {
	part, err := s.part(l.Digest)
	if err != nil {
		return err
	}
	defer part.Close()
	a := newArrival(part)
	var fetching sync.WaitGroup
	defer fetching.Wait()
	fetching.Go(func() {
		a.end(l.Fetch(ctx, part, func(done int64) {
			a.told(done)
			told(done)
		}))
	})
	unpacked, err := unpackArrival(ctx, id, files, a)
	if err != nil {
		return err
	}
	if ctx.Err() == nil {
		_ = os.Remove(part.Name()) // it is unpacked, or no good
	}
	return unpacked
}

// unpackArrival returns with what success a layer was unpacked, or that it has not come. The two are told apart by when: what was
// unpacked, or could not be, counts only once the fetch has verified what was read.
func unpackArrival(ctx context.Context, id v1.Hash, files string, a *incomingLayer) (unpacked, err error) {
	for {
		in := a.reader()
		unpacked = unpack(ctx, id, files, in)
		if err = in.outcome(); !errors.Is(err, errAnew) {
			return unpacked, err
		}
	}
}

// part opens the file that a layer is fetched into. While another pull fetches the same layer, this one gets a file of
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
