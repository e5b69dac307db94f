package store

import (
	"context"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"
)

// addFetched adds a layer that comes from elsewhere. What an interruption leaves of it is gone on with by the next pull,
// also of another program; Prune removes it.
func (s *Store) addFetched(ctx context.Context, id v1.Hash, files string, l Layer, told func(int64)) error {
	part, err := s.part(l.Digest)
	if err != nil {
		return err
	}
	defer part.Close()
	if err := l.Fetch(ctx, part, told); err != nil {
		return err
	}
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return err
	}
	err = unpack(ctx, id, files, part)
	if ctx.Err() == nil {
		_ = os.Remove(part.Name()) // it is unpacked, or no good
	}
	return err
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
