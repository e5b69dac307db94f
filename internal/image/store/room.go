package store

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filesystem"
)

// expectedLayers are the layers that this program is adding, so that images which are added at the same time fit together.
type expectedLayers struct {
	mu     sync.Mutex
	adding map[*sizeCounter]map[v1.Hash]Layer
}

// expect returns an error unless the layers that an image lacks fit, by the sizes that its source states. They count as
// expected until arrived is called.
func (s *Store) expect(c *sizeCounter, missing map[v1.Hash]Layer) (arrived func(), err error) {
	e := &s.expected
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.adding == nil {
		e.adding = map[*sizeCounter]map[v1.Hash]Layer{}
	}
	before := total(e.left(s))
	e.adding[c] = missing
	after := total(e.left(s))
	space, err := filesystem.SpaceOf(s.dir)
	if err == nil && len(missing) > 0 && after > space.Room() {
		err = &tooLargeError{needs: after - before, others: before, dir: s.dir, space: space}
	}
	if err != nil {
		delete(e.adding, c)
		return nil, err
	}
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.adding, c)
	}, nil
}

// expectedLayer is a layer as a manifest describes it. Another manifest may say something else about the same layer.
type expectedLayer struct {
	id, digest v1.Hash
	size       int64
	registry   string
}

// left returns how many bytes are still to come of each layer. Of a layer that several images need from one registry,
// one reads it.
func (e *expectedLayers) left(s *Store) map[expectedLayer]int64 {
	left := map[expectedLayer]int64{}
	for c, layers := range e.adding {
		for id, l := range layers {
			now := max(l.Size-max(c.done(id), s.sizeOfPart(l)), 0)
			key := expectedLayer{id, l.Digest, l.Size, l.Registry}
			if other, ok := left[key]; !ok || now < other {
				left[key] = now
			}
		}
	}
	return left
}

// sizeOfPart returns how many bytes of a layer are there from an earlier try.
func (s *Store) sizeOfPart(l Layer) int64 {
	info, err := os.Stat(s.partPath(l.Digest))
	if l.Fetch == nil || err != nil {
		return 0
	}
	return info.Size()
}

func total(left map[expectedLayer]int64) (all int64) {
	for _, bytes := range left {
		all = sum(all, bytes)
	}
	return all
}

// sum adds sizes, which untrusted manifests state. A sum that is too large for a number is the largest number.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// tooLargeError says that an image does not fit, before anything of it is read.
type tooLargeError struct {
	needs, others int64
	dir           string
	space         filesystem.Space
}

func (e *tooLargeError) Error() string {
	others := ""
	if e.others > 0 {
		others = fmt.Sprintf(", images that are being pulled need %s", filesystem.Text(e.others))
	}
	return fmt.Sprintf("the image needs %s%s, and %s are free on the file system of %s, of which %s are kept in reserve",
		filesystem.Text(e.needs), others, filesystem.Text(e.space.BytesAvailable), e.dir, filesystem.Text(e.space.Reserve()))
}

func (e *tooLargeError) Unwrap() error { return unix.ENOSPC }

// makeRoom removes what is of no use after an image did not fit: parts of layers, and layers that no image needs. It returns the error
// with what can be done about it.
func (s *Store) makeRoom(ctx context.Context, full error) error {
	full = fmt.Errorf("%w: make room, for example with stint image rm, or choose another directory with --image-dir", full)
	if _, err := s.Prune(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("%w; what no image needs cannot be removed: %w", full, err)
	}
	return full
}

// MakeRoom removes what no image needs, such as what killed programs have left, if the file system of the store is so full that a
// server may not be able to start.
func (s *Store) MakeRoom(ctx context.Context) error {
	space, err := filesystem.SpaceOf(s.dir)
	if err != nil || !space.IsShort() {
		return err
	}
	_, err = s.Prune(ctx)
	return err
}

// removeParts removes the parts of layers that no program is downloading.
func (s *Store) removeParts() error {
	all, err := filepath.Glob(s.path(workName, "*"+partSuffix))
	if err != nil {
		return err
	}
	for _, path := range all {
		if err := removeIdle(path); err != nil {
			return err
		}
	}
	return nil
}

// removeIdle removes a file unless a program has locked it.
func removeIdle(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if flock(f, unix.LOCK_EX|unix.LOCK_NB) != nil || !isAt(f, path) {
		return nil
	}
	return os.Remove(path)
}
