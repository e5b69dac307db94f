package boltpages

import (
	"errors"
	"hash/fnv"
	"io"
	"math"
	"math/bits"
)

const (
	metaSize    = 64
	metaMagic   = 0xED0CDAED
	metaVersion = 2

	noFreelist = math.MaxUint64

	minPageSize = 1 << 10
	maxPageSize = 1 << 24
)

// meta is the content of a meta page: where the root bucket and the freelist are.
type meta struct {
	pageSize uint64
	root     uint64
	freelist uint64
	pages    uint64 // all pages in use have a lower number; the file has at least so many
	txID     uint64
}

// newestMeta returns the valid meta page of the later transaction. One of the two may be torn: bbolt writes them in turn
// and uses the other one after a crash.
func newestMeta(file io.ReaderAt, size int64) (meta, error) {
	first, ok := readMeta(file, 0)
	if ok {
		if second, ok := readMeta(file, int64(first.pageSize)); ok && second.txID > first.txID && second.pageSize == first.pageSize {
			return second, nil
		}
		return first, nil
	}
	for at := int64(minPageSize); at <= maxPageSize && at < size; at *= 2 {
		if second, ok := readMeta(file, at); ok && second.pageSize == uint64(at) {
			return second, nil
		}
	}
	return meta{}, errors.New("neither of its meta pages is whole")
}

func readMeta(file io.ReaderAt, page int64) (meta, bool) {
	b := make([]byte, metaSize)
	if readFull(file, b, page+pageHeaderSize) != nil {
		return meta{}, false
	}
	sum := fnv.New64a()
	_, _ = sum.Write(b[:56])
	if order.Uint32(b) != metaMagic || order.Uint32(b[4:]) != metaVersion || order.Uint64(b[56:]) != sum.Sum64() {
		return meta{}, false
	}
	m := meta{
		pageSize: uint64(order.Uint32(b[8:])),
		root:     order.Uint64(b[16:]),
		freelist: order.Uint64(b[32:]),
		pages:    order.Uint64(b[40:]),
		txID:     order.Uint64(b[48:]),
	}
	return m, m.pageSize >= minPageSize && m.pageSize <= maxPageSize && bits.OnesCount64(m.pageSize) == 1
}
