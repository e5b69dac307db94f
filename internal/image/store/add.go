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

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/image/bounded"
)

// maxLayers bounds how many layers an image may have.
const maxLayers = 500

// maxParallelLayers is how many layers of an image are fetched and unpacked at the same time.
const maxParallelLayers = 3

// Add adds an image to the store under a full name. Layers that the store has are not read again. Add calls progress, which
// may be nil, while it reads layers. If the image takes more space than there is, nothing is left of it.
func (s *Store) Add(ctx context.Context, name string, from Source, progress func(Progress)) (Image, error) {
	image, err := s.add(ctx, name, from, progress)
	if filesystem.IsFull(err) {
		return Image{}, s.makeRoom(ctx, err)
	}
	return image, err
}

func (s *Store) add(ctx context.Context, name string, from Source, progress func(Progress)) (Image, error) {
	unlock, err := s.lock(workLockName, unix.LOCK_SH)
	if err != nil {
		return Image{}, err
	}
	defer unlock()
	image, err := describe(name, from)
	if err != nil {
		return Image{}, err
	}
	tree, err := s.addTree(ctx, image, from.Layers, progress)
	if err != nil {
		return Image{}, err
	}
	defer tree.Close()
	if err := s.Touch(image); err != nil {
		return Image{}, err
	}
	return image, s.change(func(images []Image) ([]Image, error) {
		images = slices.DeleteFunc(images, func(i Image) bool { return i.Name == name })
		images = append(images, image)
		slices.SortFunc(images, func(a, b Image) int { return strings.Compare(a.Name, b.Name) })
		return images, renameio.WriteFile(s.configPath(image.ID), from.Config, 0o600)
	})
}

// describe returns the entry of an image in the list, from its configuration.
func describe(name string, from Source) (Image, error) {
	var config v1.ConfigFile
	if err := bounded.Unmarshal(from.Config, &config); err != nil {
		return Image{}, fmt.Errorf("the config of %s: %w", name, err)
	}
	layers := config.RootFS.DiffIDs
	switch {
	case len(layers) != len(from.Layers):
		return Image{}, fmt.Errorf("%s is not an image that can run: its config has %d layers, its manifest %d",
			name, len(layers), len(from.Layers))
	case len(layers) > maxLayers:
		return Image{}, fmt.Errorf("%s has %d layers, more than %d", name, len(layers), maxLayers)
	case config.OS != "" && config.OS != "linux":
		return Image{}, fmt.Errorf("%s is an image for %s", name, config.OS)
	}
	image := Image{Name: name, ID: hashOf(string(from.Config)), Digest: from.Digest, Layers: layers, AddedAt: time.Now()}
	for _, l := range from.Layers {
		image.Size = sum(image.Size, l.Size)
	}
	return image, nil
}

// addLayers returns the directories of the layers, which stay until they are closed.
func (s *Store) addLayers(ctx context.Context, ids []v1.Hash, from []Layer, progress func(Progress)) (held dirs, err error) {
	missing := map[v1.Hash]Layer{}
	for i, id := range ids {
		if dir := s.hold(kept(layersName), id); dir != nil {
			held = append(held, dir)
		} else {
			missing[id] = from[i]
		}
	}
	counter := newSizeCounter(missing, progress)
	arrived, err := s.expect(counter, missing)
	if err != nil {
		return held, err
	}
	defer arrived()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	room := make(chan struct{}, maxParallelLayers)
	made := make(chan *os.File, len(missing))
	var adding sync.WaitGroup
	for id, l := range missing {
		room <- struct{}{}
		adding.Go(func() {
			defer func() { <-room }()
			dir, err := s.addLayer(ctx, id, l, counter.of(id))
			if err != nil {
				cancel(fmt.Errorf("layer %s: %w", id, err))
				return
			}
			counter.of(id)(l.Size) // Another pull may have read it.
			made <- dir
		})
	}
	adding.Wait()
	close(made)
	for dir := range made {
		held = append(held, dir)
	}
	return held, context.Cause(ctx)
}

// dirs are open directories.
type dirs []*os.File

func (ds dirs) close() {
	for _, d := range ds {
		d.Close()
	}
}

func (s *Store) addLayer(ctx context.Context, id v1.Hash, l Layer, report func(int64)) (*os.File, error) {
	return s.getOrBuild(ctx, item{kept(layersName), id, l.Registry}, func(files string) error {
		if l.Fetch != nil {
			return s.addFetched(ctx, id, files, l, report)
		}
		return s.addOpened(ctx, id, files, l, report)
	})
}

func (s *Store) addOpened(ctx context.Context, id v1.Hash, files string, l Layer, report func(int64)) error {
	layer, err := l.Open()
	if err != nil {
		return err
	}
	defer layer.Close()
	read := &reader{from: layer, ctx: ctx, report: report}
	err = s.unpack(ctx, id, files, read)
	if err != nil && read.failure != nil {
		return read.failure // To the child, the layer only ended too early.
	}
	return err
}

// unpack runs a child that unpacks the layer in in.
func (s *Store) unpack(ctx context.Context, id v1.Hash, files string, in io.Reader) error {
	return runChild(ctx, childTask{Store: s.dir, Unpack: files, Digest: id.String()}, in, nil)
}

// addTree returns the directory of the image's tree, which stays until it is closed. While it is merged, its layers stay, too.
func (s *Store) addTree(ctx context.Context, image Image, from []Layer, progress func(Progress)) (*os.File, error) {
	id := chainID(image.Layers)
	if tree := s.hold(kept(treesName), id); tree != nil {
		return tree, nil
	}
	layers, err := s.addLayers(ctx, image.Layers, from, progress)
	defer layers.close()
	if err != nil {
		return nil, err
	}
	task := childTask{Store: s.dir}
	for _, l := range image.Layers {
		task.Layers = append(task.Layers, s.layer(l))
	}
	return s.getOrBuild(ctx, item{kind: kept(treesName), id: id}, func(files string) error {
		task.Merge = files
		return runChild(ctx, task, nil, nil)
	})
}

// build calls do to fill a directory, moves that to its place and returns it. It stays until it is closed. The caller holds the
// claim.
func (s *Store) build(ctx context.Context, i item, do func(files string) error) (_ *os.File, err error) {
	unfinished := i.nameAtRegistry() + ".unfinished."
	if err := s.discardAll(unfinished); err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(s.path(workName), unfinished)
	if err != nil {
		return nil, err
	}
	placed := false
	defer func() {
		if !placed {
			err = errors.Join(err, s.discard(filepath.Base(path)))
		}
	}()
	files := filepath.Join(path, filesName)
	if err := os.Mkdir(files, 0o755); err != nil {
		return nil, err
	}
	if err := do(files); err != nil {
		return nil, err
	}
	release, err := s.claim(ctx, i.name())
	if err != nil {
		return nil, err
	}
	defer release()
	if dir := s.hold(i.kind, i.id); dir != nil {
		return dir, nil // Another registry has sent the layer meanwhile.
	}
	dir, err := s.place(i, path)
	placed = err == nil
	return dir, err
}

// place moves a directory to its place and returns it. It stays until it is closed.
func (s *Store) place(i item, path string) (*os.File, error) {
	if err := s.removeOutdated(i.kind, i.id); err != nil {
		return nil, err
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err = flock(dir, unix.LOCK_SH); err == nil {
		err = os.Rename(path, s.path(i.kind, nameOf(i.id)))
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// removeOutdated removes a layer or tree that an earlier version has made, without the directory filesName.
func (s *Store) removeOutdated(kind string, id v1.Hash) error {
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

// discardAll removes the entries of the work directory with this prefix, which killed programs have left.
func (s *Store) discardAll(prefix string) error {
	left, err := filepath.Glob(s.path(workName, prefix+"*"))
	for _, path := range left {
		err = errors.Join(err, s.discard(filepath.Base(path)))
	}
	return err
}

// discard removes an entry of the work directory. It uses a child, as the files may belong to other users.
func (s *Store) discard(name string) error {
	return runChild(context.Background(), childTask{Store: s.dir, Discard: name}, nil, nil)
}

// reader reads a layer, counts the bytes, and ends with ctx.
type reader struct {
	from   io.Reader
	ctx    context.Context
	report func(done int64)
	done   int64
	// failure is why the layer could not be read to its end.
	failure error
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.from.Read(p)
	r.done += int64(n)
	r.report(r.done)
	if err != nil && !errors.Is(err, io.EOF) {
		r.failure = err
	}
	return n, err
}
