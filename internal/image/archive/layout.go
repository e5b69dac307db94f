package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/store"
)

// nameAnnotations are annotations with the name of an image in a layout, the most complete name first.
var nameAnnotations = []string{"io.containerd.image.name", "org.opencontainers.image.ref.name"}

// maxDepth is how deep indexes may be nested in the first one.
const maxDepth = 3

func readDirectory(path string, do func(Image) error) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return readLayout(directory{root}, do)
}

// directory has the files of a directory.
type directory struct{ root *os.Root }

// Open implements files.
func (d directory) Open(name string) (io.ReadCloser, int64, error) {
	f, err := d.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0) // A FIFO must not block.
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

func readLayout(from files, do func(Image) error) error {
	const name = "index.json"
	data, _, err := read(from, name)
	if err != nil {
		return fmt.Errorf("it is not an OCI layout: %w", err)
	}
	var index v1.IndexManifest
	if err := unmarshal(name, data, &index); err != nil {
		return err
	}
	if len(index.Manifests) > maxNames {
		return fmt.Errorf("it has more than %d images: save fewer images in one file", maxNames)
	}
	found := false
	for _, d := range index.Manifests {
		m, err := manifestOf(from, d)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		found = true
		source, err := m.source(from)
		if err != nil {
			return err
		}
		if err := do(Image{source, namesOf(d)}); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("it has no image for linux/%s", runtime.GOARCH)
	}
	return nil
}

func namesOf(d v1.Descriptor) []string {
	for _, key := range nameAnnotations {
		if n := d.Annotations[key]; n != "" {
			return []string{n}
		}
	}
	return nil
}

// manifest is the manifest of an image in a layout.
type manifest struct {
	v1.Manifest
	digest v1.Hash
}

// manifestOf returns the manifest of the image that a descriptor leads to; nil if there is none that this machine can run.
func manifestOf(from files, d v1.Descriptor) (*manifest, error) {
	for range maxDepth {
		if !d.MediaType.IsIndex() {
			break
		}
		var index v1.IndexManifest
		if err := readBlob(from, d.Digest, &index); err != nil {
			return nil, err
		}
		chosen, err := registry.Choose(index.Manifests)
		if errors.Is(err, registry.ErrNoPlatform) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		d = chosen
	}
	switch {
	case d.MediaType.IsIndex():
		return nil, errors.New("its indexes are nested too deeply")
	case !d.MediaType.IsImage():
		return nil, nil
	case d.Platform != nil && !registry.Runs(*d.Platform):
		return nil, nil
	}
	m := &manifest{digest: d.Digest}
	return m, readBlob(from, d.Digest, &m.Manifest)
}

func (m *manifest) source(from files) (store.Source, error) {
	config, err := readVerified(from, m.Config.Digest)
	if err != nil {
		return store.Source{}, err
	}
	s := store.Source{Digest: m.digest, Config: config}
	for _, d := range m.Layers {
		l, err := layerIn(from, blob(d.Digest))
		if err != nil {
			return store.Source{}, err
		}
		s.Layers = append(s.Layers, l)
	}
	return s, nil
}

func blob(digest v1.Hash) string { return path.Join("blobs", digest.Algorithm, digest.Hex) }

func readBlob(from files, digest v1.Hash, into any) error {
	data, err := readVerified(from, digest)
	if err != nil {
		return err
	}
	return unmarshal(blob(digest), data, into)
}

// readVerified returns a document that has this digest.
func readVerified(from files, digest v1.Hash) ([]byte, error) {
	if digest.Hex == "" {
		return nil, errors.New("an image or a configuration has no digest")
	}
	data, got, err := read(from, blob(digest))
	if err == nil && got != digest {
		err = fmt.Errorf("%s has the digest %s", blob(digest), got)
	}
	return data, err
}
