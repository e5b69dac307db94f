// Package boltpages reads every used page of a bbolt database without mapping the file into memory. It finds damage on
// which bbolt would end the process.
//
// bbolt does not check its pages: on a damaged one it panics, or it reads beyond the mapped memory, which the program
// cannot recover from. bbolt's own consistency check has the same fault. Walk reads the file page by page instead and
// checks each page before it uses it.
//
//	meta (page 0 or 1, the newest valid one)
//	 ├── root bucket: a tree of branch and leaf pages; a leaf holds keys, values and buckets
//	 │    └── a bucket: a tree of its own, or a single leaf inside the value
//	 └── freelist, if it was written at all
//
// Walk does not check what bbolt does not read, such as the content of free pages.
package boltpages

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxDepth is far more than the depth of any real tree or bucket.
const maxDepth = 64

// Entry is a key and its value, or a bucket.
type Entry struct {
	// Bucket is the bucket that contains the entry: the names from the outermost bucket on, joined with slashes. It is
	// empty for an entry of the root bucket.
	Bucket string
	Key    []byte
	// Value is nil for a bucket.
	Value    []byte
	IsBucket bool
}

// Walk reads the database in file, which has size bytes, and calls visit for every entry in the order of the keys, and
// for a bucket before its entries. The bytes of an entry are valid only during the call. The error describes the
// damage, or is an error of visit or of reading.
func Walk(file io.ReaderAt, size int64, visit func(Entry) error) error {
	m, err := newestMeta(file, size)
	if err != nil {
		return err
	}
	if m.pages > uint64(size)/m.pageSize {
		return fmt.Errorf("it has %d bytes of %d", size, m.pages*m.pageSize)
	}
	w := &walker{file: file, meta: m, used: make([]uint64, m.pages/64+1), visit: visit}
	if err := w.markUsed(0, 1); err != nil { // the two meta pages
		return err
	}
	if err := w.tree(m.root, span{}, "", 0); err != nil {
		return err
	}
	return w.freelist()
}

type walker struct {
	file    io.ReaderAt
	meta    meta
	used    []uint64 // a bit for each page
	visit   func(Entry) error
	buffers [][]byte // free page buffers, for reuse
}

// span is the range of keys that a page may have: from first, inclusive, to end, exclusive. Nil means no bound.
type span struct{ first, end []byte }

// markUsed marks a page and its overflow pages as used. It fails if one of them is used already, so that cycles end too.
func (w *walker) markUsed(id, overflow uint64) error {
	if id >= w.meta.pages || overflow >= w.meta.pages-id {
		return fmt.Errorf("page %d and the %d after it lie beyond the last, %d", id, overflow, w.meta.pages-1)
	}
	for i := id; i <= id+overflow; i++ {
		if w.used[i/64]&(1<<(i%64)) != 0 {
			return fmt.Errorf("page %d is used twice", i)
		}
		w.used[i/64] |= 1 << (i % 64)
	}
	return nil
}

// read reads a page with its overflow pages. The caller returns the page's buffer with giveBack.
func (w *walker) read(id uint64) (page, error) {
	if id < 2 || id >= w.meta.pages {
		return page{}, fmt.Errorf("page %d is not one of 2 to %d", id, w.meta.pages-1)
	}
	buffer := w.buffer()
	offset := int64(id * w.meta.pageSize)
	if err := readFull(w.file, buffer, offset); err != nil {
		return page{}, err
	}
	p := page{buffer}
	if p.id() != id {
		return page{}, fmt.Errorf("page %d says that it is page %d", id, p.id())
	}
	if err := w.markUsed(id, p.overflow()); err != nil {
		return page{}, err
	}
	if p.overflow() == 0 {
		return p, nil
	}
	whole := make([]byte, (p.overflow()+1)*w.meta.pageSize)
	copy(whole, buffer)
	err := readFull(w.file, whole[len(buffer):], offset+int64(len(buffer)))
	w.giveBack(page{buffer})
	return page{whole}, err
}

func (w *walker) buffer() []byte {
	if last := len(w.buffers) - 1; last >= 0 {
		buffer := w.buffers[last]
		w.buffers = w.buffers[:last]
		return buffer
	}
	return make([]byte, w.meta.pageSize)
}

func (w *walker) giveBack(p page) {
	if uint64(len(p.bytes)) == w.meta.pageSize {
		w.buffers = append(w.buffers, p.bytes)
	}
}

func (w *walker) tree(id uint64, keys span, bucket string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("page %d lies too deep", id)
	}
	p, err := w.read(id)
	if err != nil {
		return err
	}
	defer w.giveBack(p)
	switch p.flags() {
	case branchFlag:
		return w.branch(p, keys, bucket, depth)
	case leafFlag:
		// bbolt removes empty leaves from their tree, so this one is damaged.
		if p.count() == 0 && keys.first != nil {
			return fmt.Errorf("page %d is an empty leaf", id)
		}
		return w.leaf(p, keys, bucket, depth)
	}
	return fmt.Errorf("page %d is neither branch nor leaf (%#x)", id, p.flags())
}

func (w *walker) branch(p page, keys span, bucket string, depth int) error {
	if p.count() == 0 {
		return fmt.Errorf("page %d is an empty branch", p.id())
	}
	elements, err := p.branchElements(keys)
	if err != nil {
		return fmt.Errorf("page %d: %w", p.id(), err)
	}
	for i, e := range elements {
		below := span{first: e.key, end: keys.end}
		if i+1 < len(elements) {
			below.end = elements[i+1].key
		}
		if err := w.tree(e.child, below, bucket, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) leaf(p page, keys span, bucket string, depth int) error {
	var before []byte
	data := p.dataStart()
	for i := range p.count() {
		e, next, err := p.leafElement(i, data)
		if err == nil {
			err = keys.check(e.key, before)
		}
		if err != nil {
			return fmt.Errorf("page %d: element %d %w", p.id(), i, err)
		}
		if err := w.entry(e, bucket, depth); err != nil {
			return err
		}
		before, data = e.key, next
	}
	return nil
}

func (w *walker) entry(e leafElement, bucket string, depth int) error {
	if !e.isBucket {
		return w.visit(Entry{Bucket: bucket, Key: e.key, Value: e.value})
	}
	name := string(e.key)
	if bucket != "" {
		name = bucket + "/" + name
	}
	if err := w.visit(Entry{Bucket: bucket, Key: e.key, IsBucket: true}); err != nil {
		return err
	}
	if err := w.nested(e.value, name, depth+1); err != nil {
		return fmt.Errorf("bucket %q: %w", name, err)
	}
	return nil
}

// nested reads a nested bucket. value is the bucket's header and, for a small bucket, its only page.
func (w *walker) nested(value []byte, name string, depth int) error {
	if depth > maxDepth {
		return errors.New("it lies too deep")
	}
	if len(value) < bucketHeaderSize {
		return fmt.Errorf("it has %d bytes and needs %d", len(value), bucketHeaderSize)
	}
	if root := order.Uint64(value); root != 0 {
		return w.tree(root, span{}, name, depth)
	}
	inline := page{value[bucketHeaderSize:]}
	if len(inline.bytes) < pageHeaderSize || inline.flags() != leafFlag || inline.id() != 0 || inline.overflow() != 0 {
		return errors.New("it holds no page")
	}
	return w.leaf(inline, span{}, name, depth)
}

// freelist checks the list of free pages. It comes last, because it fails if a free page is in use.
func (w *walker) freelist() error {
	if w.meta.freelist == noFreelist {
		return nil
	}
	p, err := w.read(w.meta.freelist)
	if err != nil {
		return err
	}
	ids, err := p.freePages()
	if err != nil {
		return fmt.Errorf("page %d: %w", w.meta.freelist, err)
	}
	for at := 0; at < len(ids); at += 8 {
		if err := w.markUsed(order.Uint64(ids[at:]), 0); err != nil {
			return fmt.Errorf("the list of free pages: %w", err)
		}
	}
	return nil
}

func (s span) check(key, before []byte) error {
	switch {
	case len(key) == 0:
		return errors.New("has no key")
	case before != nil && bytes.Compare(before, key) >= 0:
		return errors.New("is not above the one before it")
	case s.first != nil && bytes.Compare(key, s.first) < 0, s.end != nil && bytes.Compare(key, s.end) >= 0:
		return errors.New("belongs to another page")
	}
	return nil
}

func readFull(file io.ReaderAt, into []byte, offset int64) error {
	if n, err := file.ReadAt(into, offset); n < len(into) {
		return fmt.Errorf("read %d bytes at %d: %w", len(into), offset, err)
	}
	return nil
}
