package store

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The first bytes of compressed streams.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// zstdMemory bounds the window of a stream, in bytes, as the zstd program does.
const zstdMemory = 128 << 20

// decompress detects how a layer is compressed by its first bytes, as the media types of registries are not always right.
func decompress(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, 256<<10)
	begin, err := in.Peek(len(zstdMagic))
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case bytes.HasPrefix(begin, gzipMagic):
		return gzip.NewReader(in)
	case bytes.HasPrefix(begin, zstdMagic):
		return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdMemory))
	}
	return in, nil
}
