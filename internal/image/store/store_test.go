package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/userns"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/images"
	"github.com/stint-dev/stint/test/unprivileged"
)

func TestMain(m *testing.M) {
	if handled, code := store.ChildMain(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func TestWithoutRoot(t *testing.T) { unprivileged.Run(t, ".") }

func TestWithSubordinateIDs(t *testing.T) { unprivileged.WithSubordinateIDs(t, ".") }

func open(t *testing.T) (*store.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func layer(t *testing.T, text string) v1.Layer {
	return images.Layer(t, map[string]images.File{text: {Content: text, Mode: 0o644}, "shared": {Content: text, Mode: 0o600}})
}

// entries counts what is in the directories that match a pattern.
func entries(t *testing.T, dir, pattern string) int {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, pattern, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func add(t *testing.T, s *store.Store, name string, from v1.Image) store.Image {
	t.Helper()
	image, err := s.Add(t.Context(), name, source(t, from), nil)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func source(t *testing.T, image v1.Image) store.Source {
	t.Helper()
	from, err := images.Source(image)
	if err != nil {
		t.Fatal(err)
	}
	return from
}

func TestImagesShareTheirLayers(t *testing.T) {
	s, dir := open(t)
	base := layer(t, "base")
	one := add(t, s, "docker.io/library/one:1", images.Image(t, v1.Config{User: "7"}, base, layer(t, "one")))
	add(t, s, "docker.io/library/two:1", images.Image(t, v1.Config{}, base, layer(t, "two")))
	if layers, trees := entries(t, dir, "layers*"), entries(t, dir, "trees*"); layers != 3 || trees != 2 {
		t.Errorf("%d layers and %d trees", layers, trees)
	}
	for name, want := range map[string]string{"base": "base", "one": "one", "shared": "one"} {
		if text, err := os.ReadFile(filepath.Join(s.Tree(one), name)); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
	found, ok, err := s.Get("docker.io/library/one:1")
	if err != nil || !ok || found.ID != one.ID {
		t.Errorf("Get() = %+v, %t, %v", found, ok, err)
	}
	if config, err := s.Config(found); err != nil || config.Config.User != "7" {
		t.Errorf("Config() = %+v, %v", config, err)
	}
}

func TestWhatIsInUseIsNotRemoved(t *testing.T) {
	s, dir := open(t)
	image := add(t, s, "a:1", images.Image(t, v1.Config{}, layer(t, "a")))
	lock, err := os.Open(s.Tree(image))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Remove("a:1"); err != nil || !found {
		t.Fatal(found, err)
	}
	if p, err := s.Prune(t.Context()); err != nil || p.Trees != 0 || p.InUse != 1 {
		t.Errorf("Prune() = %+v, %v", p, err)
	}
	if text, err := os.ReadFile(filepath.Join(s.Tree(image), "a")); err != nil || string(text) != "a" {
		t.Errorf("the tree has lost its files: %q, %v", text, err)
	}
	lock.Close()
	if p, err := s.Prune(t.Context()); err != nil || p.Trees != 1 || p.InUse != 0 {
		t.Errorf("Prune() = %+v, %v", p, err)
	}
	for _, kind := range []string{"trees*", "layers*", "configs", "work"} {
		if n := entries(t, dir, kind); n != 0 {
			t.Errorf("%d %s are left", n, kind)
		}
	}
}

// Files belong to the users that the image names, if this user has their IDs, and this user can remove them.
func TestFilesHaveTheirOwners(t *testing.T) {
	s, dir := open(t)
	image := add(t, s, "a:1", images.Image(t, v1.Config{}, images.Layer(t, map[string]images.File{
		"own": {Mode: 0o700, Owner: 33}, "own/file": {Content: "x", Mode: 0o600, Owner: 33}, "all": {Mode: 0o500},
		"all/file": {Content: "y", Mode: 0o400},
	})))
	var stat unix.Stat_t
	if err := unix.Lstat(filepath.Join(s.Tree(image), "own"), &stat); err != nil {
		t.Fatal(err)
	}
	want := 33
	if ids := userns.Own(); os.Geteuid() != 0 && ids.SingleIDReason != nil {
		want = os.Geteuid()
	} else if os.Geteuid() != 0 {
		want = 200000 + 33 - 1
	}
	if int(stat.Uid) != want || stat.Mode&0o777 != 0o700 {
		t.Errorf("the directory belongs to %d and has the mode %o, want %d", stat.Uid, stat.Mode, want)
	}
	if _, err := s.Remove("a:1"); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Prune(t.Context()); err != nil || p.Trees != 1 || p.Layers != 1 || entries(t, dir, "trees*")+entries(t, dir, "layers*")+entries(t, dir, "work") != 0 {
		t.Errorf("Prune() = %+v, %v", p, err)
	}
}

// The first version had the files of layers and trees one directory higher.
func TestWhatAnOlderVersionHasUnpackedIsReplaced(t *testing.T) {
	s, dir := open(t)
	image := images.Image(t, v1.Config{}, layer(t, "a"))
	added := add(t, s, "a:1", image)
	for _, files := range []string{s.Tree(added), onlyEntry(t, dir, "layers*")} {
		above := filepath.Dir(files)
		aside := above + ".aside"
		if err := os.Rename(files, aside); err != nil {
			t.Fatal(err)
		}
		for _, left := range []string{filepath.Join(above, "size"), above} {
			if err := os.Remove(left); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Rename(aside, above); err != nil {
			t.Fatal(err)
		}
	}
	add(t, s, "b:1", images.Image(t, v1.Config{User: "1"}, layer(t, "a"), layer(t, "b")))
	if p, err := s.Prune(t.Context()); err != nil || p.InUse != 0 {
		t.Errorf("Prune() = %+v, %v", p, err)
	}
	again := add(t, s, "a:1", image)
	if text, err := os.ReadFile(filepath.Join(s.Tree(again), "a")); err != nil || string(text) != "a" || entries(t, dir, "work") != 0 {
		t.Errorf("%q, %v, and %d in work", text, err, entries(t, dir, "work"))
	}
}

// onlyEntry returns the directory of the files of the only layer or tree.
func onlyEntry(t *testing.T, dir, pattern string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, pattern, "*", "files"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0]
}

// tampered is a layer whose content does not match its digest.
type tampered struct {
	v1.Layer
	content v1.Layer
}

func (l tampered) Compressed() (io.ReadCloser, error) { return l.content.Compressed() }

type tamperedImage struct {
	v1.Image
	layer v1.Layer
}

func (i tamperedImage) Layers() ([]v1.Layer, error) { return []v1.Layer{i.layer}, nil }

func TestALayerThatHoldsSomethingElseIsRefused(t *testing.T) {
	s, dir := open(t)
	said, held := layer(t, "said"), layer(t, "held")
	image := tamperedImage{images.Image(t, v1.Config{}, said), tampered{said, held}}
	if _, err := s.Add(t.Context(), "a:1", source(t, image), nil); err == nil || !strings.Contains(err.Error(), "has the digest") {
		t.Errorf("Add() = %v", err)
	}
	if list, err := s.List(); err != nil || len(list) != 0 || entries(t, dir, "layers*") != 0 || entries(t, dir, "work") != 0 {
		t.Errorf("the store has %v, %v", list, err)
	}
}

// interrupted is a layer whose registry ends the connection.
type interrupted struct{ v1.Layer }

var errHungUp = errors.New("the registry has hung up")

func (l interrupted) Compressed() (io.ReadCloser, error) {
	return io.NopCloser(io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errHungUp))), nil
}

func TestTheErrorOfReadingALayerIsReturned(t *testing.T) {
	s, _ := open(t)
	l := layer(t, "a")
	if _, err := s.Add(t.Context(), "a:1", source(t, tamperedImage{images.Image(t, v1.Config{}, l), interrupted{l}}), nil); !errors.Is(err, errHungUp) {
		t.Errorf("Add() = %v", err)
	}
}

// endless is a layer that never ends, as one whose registry hangs.
type endless struct {
	v1.Layer
	ctx context.Context
}

func (l endless) Compressed() (io.ReadCloser, error) { return endlessReader{l.ctx}, nil }

type endlessReader struct{ ctx context.Context }

func (r endlessReader) Read([]byte) (int, error) { <-r.ctx.Done(); return 0, r.ctx.Err() }
func (endlessReader) Close() error               { return nil }

func TestAddEndsWithItsContext(t *testing.T) {
	s, dir := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	l := layer(t, "a")
	image := tamperedImage{images.Image(t, v1.Config{}, l), endless{l, ctx}}
	go cancel()
	if _, err := s.Add(ctx, "a:1", source(t, image), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Add() = %v", err)
	}
	if n := entries(t, dir, "work"); n != 0 {
		t.Errorf("%d directories are left", n)
	}
}

func TestSeveralAddTheSameImage(t *testing.T) {
	s, dir := open(t)
	image := images.Image(t, v1.Config{}, layer(t, "a"), layer(t, "b"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := s.Add(t.Context(), "a:1", source(t, image), nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if layers, trees, work := entries(t, dir, "layers*"), entries(t, dir, "trees*"), entries(t, dir, "work"); layers != 2 || trees != 1 || work != 0 {
		t.Errorf("%d layers, %d trees, %d in work", layers, trees, work)
	}
}

func TestAStoreThatOthersMayWriteToIsRefused(t *testing.T) {
	shared := filepath.Join(t.TempDir(), "shared")
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(filepath.Join(shared, "store")); err == nil || !strings.Contains(err.Error(), "any user may write") {
		t.Errorf("Open() = %v", err)
	}
}

// waiting is a layer of which nothing can be read until the test closes goOn. begun gets a value for each read that begins.
type waiting struct {
	v1.Layer
	begun chan struct{}
	goOn  chan struct{}
}

func wait(l v1.Layer) waiting {
	return waiting{l, make(chan struct{}, 10), make(chan struct{})}
}

func (l waiting) Compressed() (io.ReadCloser, error) {
	l.begun <- struct{}{}
	<-l.goOn
	return l.Layer.Compressed()
}

type layersImage struct {
	v1.Image
	layers []v1.Layer
}

func (i layersImage) Layers() ([]v1.Layer, error) { return i.layers, nil }

// adding adds an image in the background.
func adding(t *testing.T, s *store.Store, name string, image v1.Image) (ended chan error) {
	t.Helper()
	from := source(t, image)
	ended = make(chan error, 1)
	go func() {
		_, err := s.Add(context.Background(), name, from, nil)
		ended <- err
	}()
	return ended
}

// Prune does not remove layers of an image that is being added.
func TestPruneDoesNotWaitForPulls(t *testing.T) {
	s, dir := open(t)
	base, slow := layer(t, "base"), wait(layer(t, "slow"))
	add(t, s, "a:1", images.Image(t, v1.Config{}, base))
	image := images.Image(t, v1.Config{}, base, slow.Layer)
	ended := adding(t, s, "b:1", layersImage{image, []v1.Layer{base, slow}})
	await.Value(t, "the slow layer is read", slow.begun)
	if found, err := s.Remove("a:1"); err != nil || !found {
		t.Fatal(found, err)
	}
	if p, err := s.Prune(t.Context()); err != nil || p.Trees != 1 || p.Layers != 0 || p.InUse != 1 {
		t.Errorf("Prune() = %+v, %v", p, err)
	}
	close(slow.goOn)
	if err := await.Value(t, "the image is added", ended); err != nil {
		t.Fatal(err)
	}
	added, ok, err := s.Get("b:1")
	if err != nil || !ok {
		t.Fatal(added, ok, err)
	}
	for _, name := range []string{"base", "slow"} {
		if _, err := os.Stat(filepath.Join(s.Tree(added), name)); err != nil {
			t.Error(err)
		}
	}
	if n := entries(t, dir, "work"); n != 0 {
		t.Errorf("%d are left in work", n)
	}
}

func TestALayerThatTwoImagesShareIsFetchedOnce(t *testing.T) {
	s, dir := open(t)
	again, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	shared := wait(layer(t, "shared"))
	one, two := layer(t, "one"), wait(layer(t, "two"))
	first := adding(t, s, "one:1", layersImage{images.Image(t, v1.Config{}, shared.Layer, one), []v1.Layer{shared, one}})
	await.Value(t, "the first image reads the layer", shared.begun)
	second := adding(t, again, "two:1", layersImage{images.Image(t, v1.Config{}, shared.Layer, two.Layer), []v1.Layer{shared, two}})
	await.Value(t, "the second image reads its own layer", two.begun)
	close(two.goOn)
	close(shared.goOn)
	for _, ended := range []chan error{first, second} {
		if err := await.Value(t, "an image is added", ended); err != nil {
			t.Error(err)
		}
	}
	if n := len(shared.begun); n != 0 {
		t.Errorf("the layer was read %d times more", n)
	}
}

func TestWaitingForALayerOfAnotherProgramEndsWithTheContext(t *testing.T) {
	s, _ := open(t)
	slow := wait(layer(t, "slow"))
	image := layersImage{images.Image(t, v1.Config{}, slow.Layer), []v1.Layer{slow}}
	ended := adding(t, s, "a:1", image)
	await.Value(t, "the layer is read", slow.begun)
	ctx, cancel := context.WithCancel(t.Context())
	from, waited := source(t, image), make(chan error, 1)
	go func() {
		_, err := s.Add(ctx, "b:1", from, nil)
		waited <- err
	}()
	await.Until(t, "the other image waits for the layer", waits)
	cancel()
	if err := await.Value(t, "the end of the wait", waited); !errors.Is(err, context.Canceled) {
		t.Errorf("Add() = %v", err)
	}
	if waits() {
		t.Error("a thread goes on waiting for the layer")
	}
	close(slow.goOn)
	if err := await.Value(t, "the image is added", ended); err != nil {
		t.Error(err)
	}
}

// waits reports whether a goroutine waits for what another program makes.
func waits() bool {
	var all bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&all, 2)
	for one := range strings.SplitSeq(all.String(), "\n\n") {
		state, calls, _ := strings.Cut(one, "\n")
		if strings.Contains(calls, "store.await") && !strings.Contains(state, "run") {
			return true
		}
	}
	return false
}
