package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// maxLayers bounds how many layers an image has.
const maxLayers = 500

// atATime is how many layers are fetched and unpacked side by side.
const atATime = 3

// Add puts an image into the store under a full name. What of it is there already is not read again. Progress, which may be
// nil, is told while layers are read.
func (s *Store) Add(ctx context.Context, name string, from Source, progress func(Progress)) (Image, error) {
	unlock, err := s.lock(unix.LOCK_SH)
	if err != nil {
		return Image{}, err
	}
	defer unlock()
	image, err := describe(name, from)
	if err != nil {
		return Image{}, err
	}
	if _, err := os.Lstat(s.Tree(image)); err != nil {
		if err := s.addLayers(ctx, image.Layers, from.Layers, progress); err != nil {
			return Image{}, err
		}
		if err := s.addTree(ctx, image); err != nil {
			return Image{}, err
		}
	}
	if err := renameio.WriteFile(s.configPath(image.ID), from.Config, 0o600); err != nil {
		return Image{}, err
	}
	err = s.change(func(images []Image) []Image {
		images = slices.DeleteFunc(images, func(i Image) bool { return i.Name == name })
		images = append(images, image)
		slices.SortFunc(images, func(a, b Image) int { return strings.Compare(a.Name, b.Name) })
		return images
	})
	return image, err
}

// describe reads what the image says of itself.
func describe(name string, from Source) (Image, error) {
	config, err := v1.ParseConfigFile(bytes.NewReader(from.Config))
	if err != nil {
		return Image{}, fmt.Errorf("the config of %s: %w", name, err)
	}
	layers := config.RootFS.DiffIDs
	switch {
	case len(layers) != len(from.Layers):
		return Image{}, fmt.Errorf("%s is no image that can be run: its config has %d layers, its manifest %d",
			name, len(layers), len(from.Layers))
	case len(layers) > maxLayers:
		return Image{}, fmt.Errorf("%s has %d layers, more than %d", name, len(layers), maxLayers)
	case config.OS != "" && config.OS != "linux":
		return Image{}, fmt.Errorf("%s is an image for %s", name, config.OS)
	}
	image := Image{Name: name, ID: hashOf(string(from.Config)), Digest: from.Digest, Layers: layers, AddedAt: time.Now()}
	for _, l := range from.Layers {
		image.Size += l.Size
	}
	return image, nil
}

func (s *Store) addLayers(ctx context.Context, ids []v1.Hash, from []Layer, progress func(Progress)) error {
	missing := map[v1.Hash]Layer{}
	for i, id := range ids {
		if _, err := os.Lstat(s.layer(id)); err != nil {
			missing[id] = from[i]
		}
	}
	told := newTally(missing, progress)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	room := make(chan struct{}, atATime)
	var adding sync.WaitGroup
	for id, l := range missing {
		room <- struct{}{}
		adding.Go(func() {
			defer func() { <-room }()
			if err := s.addLayer(ctx, id, l, told.of(id)); err != nil {
				cancel(fmt.Errorf("layer %s: %w", id, err))
			}
		})
	}
	adding.Wait()
	return context.Cause(ctx)
}

func (s *Store) addLayer(ctx context.Context, id v1.Hash, l Layer, told func(int64)) error {
	switch {
	case ctx.Err() != nil:
		return nil
	case l.Fetch != nil:
		return s.addFetched(ctx, id, l, told)
	}
	layer, err := l.Open()
	if err != nil {
		return err
	}
	defer layer.Close()
	read := &reader{from: layer, ctx: ctx, told: told}
	err = s.unpack(ctx, id, read)
	if err != nil && read.failure != nil {
		return read.failure // the child has only seen that the layer ends too early
	}
	return err
}

// unpack has a child make the layer that in holds.
func (s *Store) unpack(ctx context.Context, id v1.Hash, in io.Reader) error {
	return s.make(kept(layersName), id, func(dir string) error {
		return runChild(ctx, childTask{Unpack: dir, Digest: id.String()}, in, nil)
	})
}

// addTree merges the image's layers.
func (s *Store) addTree(ctx context.Context, image Image) error {
	task := childTask{}
	for _, l := range image.Layers {
		task.Layers = append(task.Layers, s.layer(l))
	}
	return s.make(kept(treesName), chainID(image.Layers), func(dir string) error {
		task.Merge = dir
		return runChild(ctx, task, nil, nil)
	})
}

// make has do fill a directory and puts it in its place. Another program may have been faster; both have made the same.
func (s *Store) make(kind string, id v1.Hash, do func(dir string) error) error {
	dir, err := os.MkdirTemp(s.path(workName), nameOf(id)+".")
	if err != nil {
		return err
	}
	files := filepath.Join(dir, filesName)
	err = os.Mkdir(files, 0o755)
	if err == nil {
		err = do(files)
	}
	if err != nil {
		return errors.Join(err, s.discard(filepath.Base(dir)))
	}
	if err := s.retire(kind, id); err != nil {
		return errors.Join(err, s.discard(filepath.Base(dir)))
	}
	err = os.Rename(dir, s.path(kind, nameOf(id)))
	if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.ENOTEMPTY) {
		return s.discard(filepath.Base(dir))
	}
	return err
}

// retire takes a layer or tree out of its place that is not as this version has them.
func (s *Store) retire(kind string, id v1.Hash) error {
	at := s.path(kind, nameOf(id))
	if _, err := os.Lstat(filepath.Join(at, filesName)); err == nil {
		return nil
	}
	aside, err := os.MkdirTemp(s.path(workName), nameOf(id)+".")
	if err != nil {
		return err
	}
	err = os.Rename(at, filepath.Join(aside, filesName))
	if errors.Is(err, fs.ErrNotExist) {
		return os.Remove(aside)
	}
	return errors.Join(err, s.discard(filepath.Base(aside)))
}

// discard removes an entry of the work directory. Its files may belong to other users than this one.
func (s *Store) discard(name string) error {
	return runChild(context.Background(), childTask{Store: s.dir, Discard: name}, nil, nil)
}

// reader counts what is read of a layer, and ends with ctx.
type reader struct {
	from io.Reader
	ctx  context.Context
	told func(done int64)
	done int64
	// failure is why it could not be read to its end.
	failure error
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.from.Read(p)
	r.done += int64(n)
	r.told(r.done)
	if err != nil && !errors.Is(err, io.EOF) {
		r.failure = err
	}
	return n, err
}
