package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stint-dev/stint/internal/datadir"
)

// Where the database (bbolt, version 2) keeps what checkDatabase reads: at the start of its first two pages, behind
// the page's header, lies a meta record each.
const (
	metaOffset     = 16
	metaSize       = 64
	metaMagic      = 0xED0CDAED
	metaPageSizeAt = 8
	metaPagesAt    = 40
	metaTxIDAt     = 48
	metaChecksumAt = 56
)

// checkDatabase compares the size of the database with the size that it claims. etcd maps the file into memory, and
// reading what is missing at its end kills the process without a word.
func checkDatabase(etcdDir string) error {
	path := filepath.Join(etcdDir, "member", "snap", "db")
	f, err := datadir.Open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if claimed := claimedSize(f, int64(os.Getpagesize())); claimed > info.Size() {
		return damaged(path, fmt.Errorf("it has %d bytes of %d", info.Size(), claimed), etcdDir)
	}
	return nil
}

// claimedSize is that of the newest valid meta record, and 0 without one, about which etcd says enough itself.
func claimedSize(f io.ReaderAt, page int64) (size int64) {
	var newest uint64
	for _, at := range []int64{0, page} {
		meta := make([]byte, metaSize)
		if _, err := f.ReadAt(meta, at+metaOffset); err != nil {
			continue
		}
		sum := fnv.New64a()
		_, _ = sum.Write(meta[:metaChecksumAt])
		order := binary.NativeEndian
		if order.Uint32(meta) != metaMagic || order.Uint64(meta[metaChecksumAt:]) != sum.Sum64() {
			continue
		}
		if id := order.Uint64(meta[metaTxIDAt:]); id >= newest {
			newest = id
			size = int64(order.Uint64(meta[metaPagesAt:])) * int64(order.Uint32(meta[metaPageSizeAt:]))
		}
	}
	return size
}
