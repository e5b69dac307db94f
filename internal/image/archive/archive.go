// Package archive reads images from files: archives of docker save, and OCI layouts as archives and directories.
package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/stint-dev/stint/internal/image/bounded"
	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/store"
)

// maxNames bounds how many names the images of a file may have together.
const maxNames = 1000

// Image is an image in a file, with the names that the file gives it.
type Image struct {
	store.Source
	Names []string
}

// files are the files of an archive or a directory.
type files interface {
	// Open returns a file and its size.
	Open(name string) (io.ReadCloser, int64, error)
}

// Read calls do for each image in a file or directory. A child of the store reads archives.
func Read(ctx context.Context, s *store.Store, path string, do func(Image) error) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return readDirectory(path, do)
	}
	a, err := s.OpenArchive(ctx, path)
	if err != nil {
		return err
	}
	defer a.Close()
	switch {
	case a.Has("manifest.json"):
		return readDocker(a, do)
	case a.Has("index.json"):
		return readLayout(a, do)
	}
	return errors.New("it is not an image archive: it has neither a manifest.json (docker save) nor an index.json (OCI)")
}

// read returns a document and its digest.
func read(from files, name string) ([]byte, v1.Hash, error) {
	f, size, err := from.Open(name)
	if err != nil {
		return nil, v1.Hash{}, err
	}
	defer f.Close()
	data, err := bounded.Read(f, size)
	if err != nil {
		return nil, v1.Hash{}, fmt.Errorf("%s: %w", name, err)
	}
	digest, _, err := v1.SHA256(bytes.NewReader(data))
	return data, digest, err
}

func unmarshal(name string, data []byte, into any) error {
	if err := bounded.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// layerIn returns the layer that is a file.
func layerIn(from files, name string) (store.Layer, error) {
	f, size, err := from.Open(name)
	if err != nil {
		return store.Layer{}, err
	}
	open := func() (io.ReadCloser, error) {
		f, _, err := from.Open(name)
		return f, err
	}
	return store.Layer{Size: size, Open: open}, f.Close()
}

// FullNames returns the complete names of an image, such as docker.io/library/perl:latest.
func (i Image) FullNames() ([]string, error) {
	var full []string
	for _, n := range i.Names {
		r, err := registry.Parse(n)
		if err != nil {
			return nil, err
		}
		full = append(full, r.String())
	}
	return full, nil
}
