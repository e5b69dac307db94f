package store_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/images"
)

// large is a layer that begins with a small file, a/begin, and does not get smaller by compression.
func large(t *testing.T) v1.Layer {
	t.Helper()
	noise := make([]byte, 2<<20)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	return images.Layer(t, map[string]images.File{"a/begin": {Content: "begin", Mode: 0o644}, "noise": {Content: string(noise), Mode: 0o644}})
}

func packed(t *testing.T, l v1.Layer) []byte {
	t.Helper()
	from, err := l.Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// fetching is how a test fetches a layer.
type fetching func(ctx context.Context, file *os.File, report func(int64)) error

// write appends to the file of a layer that is fetched.
func write(t *testing.T, file *os.File, report func(int64), text []byte) {
	if _, err := file.Write(text); err != nil {
		t.Error(err)
	}
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		t.Error(err)
	}
	report(at)
}

// fetch adds an image of one layer, which how fetches.
func fetch(t *testing.T, s *store.Store, l v1.Layer, how fetching) (store.Image, error) {
	t.Helper()
	from := source(t, images.Image(t, v1.Config{}, l))
	from.Layers[0].Open, from.Layers[0].Fetch = nil, how
	return s.Add(t.Context(), "a:1", from, nil)
}

// awaitUnpacked waits until the child has unpacked a file of a layer that is still being fetched.
func awaitUnpacked(t *testing.T, dir, name string) {
	await.Until(t, name+" is unpacked", func() bool {
		found, err := filepath.Glob(filepath.Join(dir, "work", "*", "files", "tree", name))
		return err == nil && len(found) == 1
	})
}

func TestALayerIsUnpackedWhileItIsFetched(t *testing.T) {
	s, dir := open(t)
	l := large(t)
	all := packed(t, l)
	half := len(all) / 2
	broken := errors.New("the registry has hung up")
	_, err := fetch(t, s, l, func(_ context.Context, file *os.File, report func(int64)) error {
		write(t, file, report, all[:half])
		awaitUnpacked(t, dir, "a/begin")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("Add() = %v", err)
	}
	if layers, work := entries(t, dir, "layers*"), entries(t, dir, "work"); layers != 0 || work != 1 {
		t.Errorf("%d layers, and %d in work, want only what was fetched", layers, work)
	}
	image, err := fetch(t, s, l, func(_ context.Context, file *os.File, report func(int64)) error {
		end, err := file.Seek(0, io.SeekEnd)
		if err != nil || end != int64(half) {
			t.Errorf("%d bytes were kept of %d, %v", end, half, err)
		}
		write(t, file, report, all[end:])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	isLarge(t, s, image)
	if n := entries(t, dir, "work"); n != 0 {
		t.Errorf("%d are left in work", n)
	}
}

func isLarge(t *testing.T, s *store.Store, image store.Image) {
	t.Helper()
	if text, err := os.ReadFile(filepath.Join(s.Tree(image), "a/begin")); err != nil || string(text) != "begin" {
		t.Errorf("a/begin holds %q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(s.Tree(image), "noise")); err != nil || info.Size() != 2<<20 {
		t.Errorf("noise is %v, %v", info, err)
	}
}

// If a mirror has sent something wrong, the layer is downloaded again, from the registry.
func TestALayerThatIsFetchedAnewIsUnpackedAnew(t *testing.T) {
	s, dir := open(t)
	l, other := large(t), images.Layer(t, map[string]images.File{
		"a/other": {Content: "other", Mode: 0o644}, "b": {Content: string(packed(t, large(t))), Mode: 0o644}})
	wrong := packed(t, other)
	image, err := fetch(t, s, l, func(_ context.Context, file *os.File, report func(int64)) error {
		for _, sent := range [][]byte{wrong[:len(wrong)/2], wrong, []byte("no archive"), packed(t, l)} {
			report(0)
			if err := file.Truncate(0); err != nil {
				return err
			}
			if _, err := file.Seek(0, io.SeekStart); err != nil {
				return err
			}
			write(t, file, report, sent)
			if len(sent) == len(wrong) {
				awaitUnpacked(t, dir, "a/other")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	isLarge(t, s, image)
	if _, err := os.Stat(filepath.Join(s.Tree(image), "a/other")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left of what came first: %v", err)
	}
}

// An error in the archive counts only once all of it is downloaded.
func TestAnArchiveThatCannotBeUnpackedIsRefusedOnceItIsVerified(t *testing.T) {
	s, dir := open(t)
	_, err := fetch(t, s, layer(t, "said"), func(_ context.Context, file *os.File, report func(int64)) error {
		write(t, file, report, packed(t, layer(t, "held")))
		return nil
	})
	if err == nil || entries(t, dir, "layers*") != 0 || entries(t, dir, "work") != 0 {
		t.Errorf("Add() = %v, with %d in work", err, entries(t, dir, "work"))
	}
}

// The digests of the layers of well-known images are no secret: any image may name them, and send them as slowly as it likes.
func TestNoRegistryHoldsUpALayerOfAnotherOne(t *testing.T) {
	s, dir := open(t)
	l := large(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	slow := func(_ context.Context, file *os.File, report func(int64)) error {
		close(begun)
		<-goOn
		write(t, file, report, packed(t, l))
		return nil
	}
	from := func(registry string, how fetching) store.Source {
		from := source(t, images.Image(t, v1.Config{}, l))
		from.Layers[0].Registry, from.Layers[0].Open, from.Layers[0].Fetch = registry, nil, how
		return from
	}
	first, ended := from("slow.example.com", slow), make(chan error, 1)
	go func() {
		_, err := s.Add(context.Background(), "slow.example.com/a:1", first, nil)
		ended <- err
	}()
	await.Value(t, "a registry is asked for the layer", begun)
	fast := func(_ context.Context, file *os.File, report func(int64)) error {
		write(t, file, report, packed(t, l))
		return nil
	}
	added := make(chan store.Image, 1)
	second := from("fast.example.com", fast)
	go func() {
		image, err := s.Add(context.Background(), "fast.example.com/a:1", second, nil)
		if err != nil {
			t.Error(err)
		}
		added <- image
	}()
	await.Until(t, "the other registry's image is added, or waits", func() bool { return len(added) == 1 || waits() })
	if len(added) == 0 {
		t.Error("a layer waits for another registry")
	}
	close(goOn)
	isLarge(t, s, await.Value(t, "the other registry's image is added", added))
	if err := await.Value(t, "the first registry's image is added", ended); err != nil {
		t.Error(err)
	}
	if layers, work := entries(t, dir, "layers*"), entries(t, dir, "work"); layers != 1 || work != 0 {
		t.Errorf("%d layers, and %d in work", layers, work)
	}
}
