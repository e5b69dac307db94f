package store

import (
	"context"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Source is an image to add.
type Source struct {
	// Digest is that of the image in its registry or archive.
	Digest v1.Hash
	// Config is the image's configuration, in JSON.
	Config []byte
	// Layers begin with the lowest.
	Layers []Layer
}

// Layer is one layer of a Source, compressed or not. Either Open or Fetch is set.
type Layer struct {
	// Digest and Size are those of the bytes that are read.
	Digest v1.Hash
	Size   int64
	// Registry is the registry that the layer is fetched from.
	Registry string
	// Open reads a layer that is on this machine.
	Open func() (io.ReadCloser, error)
	// Fetch downloads a layer into file, which may have its beginning from an earlier try, and verifies it. It calls report with the
	// number of bytes in the file, and with 0 just before it discards them to begin again: they are read meanwhile.
	Fetch func(ctx context.Context, file *os.File, report func(done int64)) error
}
