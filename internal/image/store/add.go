package store

import (
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

// Add puts an image into the store under a full name. What of it is there already is not read again. Each layer that is
// read is told to progress, which may be nil.
func (s *Store) Add(ctx context.Context, name string, from v1.Image, progress func(Progress)) (Image, error) {
	unlock, err := s.lock(unix.LOCK_SH)
	if err != nil {
		return Image{}, err
	}
	defer unlock()
	image, config, err := describe(name, from)
	if err != nil {
		return Image{}, err
	}
	if _, err := os.Lstat(s.Tree(image)); err != nil {
		if err := s.addLayers(ctx, image.Layers, from, progress); err != nil {
			return Image{}, err
		}
		if err := s.addTree(ctx, image); err != nil {
			return Image{}, err
		}
	}
	if err := renameio.WriteFile(s.configPath(image.ID), config, 0o600); err != nil {
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
func describe(name string, from v1.Image) (Image, []byte, error) {
	config, err := from.ConfigFile()
	if err != nil {
		return Image{}, nil, err
	}
	raw, err := from.RawConfigFile()
	if err != nil {
		return Image{}, nil, err
	}
	manifest, err := from.Manifest()
	if err != nil {
		return Image{}, nil, err
	}
	digest, err := from.Digest()
	if err != nil {
		return Image{}, nil, err
	}
	id, err := from.ConfigName()
	if err != nil {
		return Image{}, nil, err
	}
	layers := config.RootFS.DiffIDs
	switch {
	case len(layers) != len(manifest.Layers):
		return Image{}, nil, fmt.Errorf("%s is no image that can be run: its config has %d layers, its manifest %d",
			name, len(layers), len(manifest.Layers))
	case len(layers) > maxLayers:
		return Image{}, nil, fmt.Errorf("%s has %d layers, more than %d", name, len(layers), maxLayers)
	case config.OS != "" && config.OS != "linux":
		return Image{}, nil, fmt.Errorf("%s is an image for %s", name, config.OS)
	}
	now := time.Now()
	image := Image{Name: name, ID: id, Digest: digest, Layers: layers, AddedAt: now}
	for _, l := range manifest.Layers {
		image.Size += l.Size
	}
	return image, raw, nil
}

// Progress tells how far a layer is read.
type Progress struct {
	Layer v1.Hash
	// Done and Total are bytes of the compressed layer.
	Done, Total int64
}

func (s *Store) addLayers(ctx context.Context, ids []v1.Hash, from v1.Image, progress func(Progress)) error {
	layers, err := from.Layers()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	room := make(chan struct{}, atATime)
	var adding sync.WaitGroup
	for i, l := range layers {
		if _, err := os.Lstat(s.layer(ids[i])); err == nil || slices.Contains(ids[:i], ids[i]) {
			continue
		}
		room <- struct{}{}
		adding.Go(func() {
			defer func() { <-room }()
			if err := s.addLayer(ctx, ids[i], l, progress); err != nil {
				cancel(fmt.Errorf("layer %s: %w", ids[i], err))
			}
		})
	}
	adding.Wait()
	return context.Cause(ctx)
}

func (s *Store) addLayer(ctx context.Context, id v1.Hash, l v1.Layer, progress func(Progress)) error {
	if ctx.Err() != nil {
		return nil
	}
	compressed, err := l.Compressed()
	if err != nil {
		return err
	}
	defer compressed.Close()
	size, err := l.Size()
	if err != nil {
		return err
	}
	read := &reader{from: compressed, ctx: ctx, progress: Progress{Layer: id, Total: size}, tell: progress}
	err = s.make(kept(layersName), id, func(dir string) error {
		return runChild(ctx, childTask{Unpack: dir, Digest: id.String()}, read, nil)
	})
	if err != nil && read.failure != nil {
		return read.failure // the child has only seen that the layer ends too early
	}
	return err
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
	err = os.Rename(dir, s.path(kind, nameOf(id)))
	if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.ENOTEMPTY) {
		return s.discard(filepath.Base(dir))
	}
	return err
}

// discard removes an entry of the work directory. Its files may belong to other users than this one.
func (s *Store) discard(name string) error {
	return runChild(context.Background(), childTask{Store: s.dir, Discard: name}, nil, nil)
}

// reader counts what is read of a layer, and ends with ctx.
type reader struct {
	from     io.Reader
	ctx      context.Context
	progress Progress
	tell     func(Progress)
	// failure is why it could not be read to its end.
	failure error
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.from.Read(p)
	r.progress.Done += int64(n)
	if r.tell != nil {
		r.tell(r.progress)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		r.failure = err
	}
	return n, err
}
