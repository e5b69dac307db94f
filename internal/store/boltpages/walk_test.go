package boltpages_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/stint-dev/stint/internal/store/boltpages"
)

const pageSize = 4096

var order = binary.NativeEndian

// made returns the bytes of a database that bbolt has written.
func made(t testing.TB, options *bbolt.Options, fill func(*bbolt.Tx) error) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	options.PageSize = pageSize
	db, err := bbolt.Open(path, 0o600, options)
	if err != nil {
		t.Fatal(err)
	}
	if fill != nil {
		if err := db.Update(fill); err != nil {
			t.Fatal(err)
		}
		// bbolt frees pages only in the next transaction.
		if err := db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("key")).Delete([]byte("000007")) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fill writes branch pages, a value with overflow pages, a bucket that is stored inside its value, and nested buckets.
func fill(tx *bbolt.Tx) error {
	key, err := tx.CreateBucket([]byte("key"))
	if err != nil {
		return err
	}
	for i := range 500 {
		if err := key.Put(fmt.Appendf(nil, "%06d", i), bytes.Repeat([]byte("v"), 100)); err != nil {
			return err
		}
	}
	if err := key.Put([]byte("long"), make([]byte, 3*pageSize)); err != nil {
		return err
	}
	small, err := tx.CreateBucket([]byte("small"))
	if err != nil {
		return err
	}
	inner, err := small.CreateBucket([]byte("inner"))
	if err != nil {
		return err
	}
	return inner.Put([]byte("k"), []byte("v"))
}

func walk(db []byte) (entries int, err error) {
	err = boltpages.Walk(bytes.NewReader(db), int64(len(db)), func(boltpages.Entry) error { entries++; return nil })
	return entries, err
}

func TestWholeDatabasesPass(t *testing.T) {
	for name, test := range map[string]struct {
		options bbolt.Options
		fill    func(*bbolt.Tx) error
		want    int
	}{
		"an empty one":                {bbolt.Options{}, nil, 0},
		"one with a list of free":     {bbolt.Options{}, fill, 504},
		"one without, as etcd's":      {bbolt.Options{NoFreelistSync: true}, fill, 504},
		"one whose free are in a map": {bbolt.Options{FreelistType: bbolt.FreelistMapType}, fill, 504},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := walk(made(t, &test.options, test.fill)); err != nil || got != test.want {
				t.Errorf("%d entries, want %d; %v", got, test.want, err)
			}
		})
	}
}

func TestATornMetaPageIsNotUsed(t *testing.T) {
	for at := range 2 {
		db := made(t, &bbolt.Options{NoFreelistSync: true}, fill)
		db[at*pageSize+20] ^= 1
		if _, err := walk(db); err != nil {
			t.Errorf("without meta page %d: %v", at, err)
		}
	}
}

// parts finds the pages of a database by their place in the tree, so that tests can damage them.
type parts struct{ db []byte }

func (p parts) page(id uint64) []byte { return p.db[id*pageSize:] }

// meta returns the meta record of the later transaction.
func (p parts) meta() []byte {
	first, second := p.db[16:], p.db[pageSize+16:]
	if order.Uint64(second[48:]) > order.Uint64(first[48:]) {
		return second
	}
	return first
}

func (p parts) setMeta(at int, value uint64) {
	m := p.meta()
	order.PutUint64(m[at:], value)
	sum := fnv.New64a()
	sum.Write(m[:56])
	order.PutUint64(m[56:], sum.Sum64())
}

func (p parts) rootID() uint64 { return order.Uint64(p.meta()[16:]) }
func (p parts) root() []byte   { return p.page(p.rootID()) }

// branch returns the root page of the bucket "key", which is the first bucket.
func (p parts) branch() []byte {
	root := p.root()
	return p.page(order.Uint64(root[16+order.Uint32(root[20:])+3:]))
}
func (p parts) leafID(i int) uint64 { return order.Uint64(p.branch()[16+16*i+8:]) }
func (p parts) leaf(i int) []byte   { return p.page(p.leafID(i)) }
func (p parts) freelist() []byte    { return p.page(order.Uint64(p.meta()[32:])) }

func TestDamageIsFound(t *testing.T) {
	for want, damage := range map[string]func(p parts){
		"neither of its meta pages":   func(p parts) { clear(p.db[:2*pageSize]) },
		"bytes of":                    func(p parts) { p.setMeta(40, 1<<40) },
		"is not one of 2 to":          func(p parts) { p.setMeta(16, 1) },
		"says that it is page":        func(p parts) { p.leaf(0)[0] ^= 1 },
		"neither branch nor leaf":     func(p parts) { p.leaf(0)[8] = 0x10 },
		"lie beyond the last":         func(p parts) { order.PutUint32(p.leaf(0)[12:], 1<<31) },
		"is an empty leaf":            func(p parts) { order.PutUint16(p.leaf(0)[10:], 0) },
		"is an empty branch":          func(p parts) { order.PutUint16(p.branch()[10:], 0) },
		"is used twice":               func(p parts) { order.PutUint32(p.leaf(0)[12:], uint32(order.Uint64(p.meta()[40:])-1-p.leafID(0))) },
		"is none: its count":          func(p parts) { order.PutUint16(p.leaf(0)[10:], order.Uint16(p.leaf(0)[10:])-1) },
		"instead of":                  func(p parts) { order.PutUint32(p.leaf(0)[16+4:], 1<<20) },
		"beyond the page's":           func(p parts) { order.PutUint32(p.leaf(0)[16+12:], 1<<31) },
		"beyond the page":             manyElements,
		"neither a value nor":         func(p parts) { order.PutUint32(p.leaf(0)[16:], 2) },
		"not above the one before":    func(p parts) { copy(p.leaf(0)[16+order.Uint32(p.leaf(0)[20:]):], "000009") },
		"belongs to another page":     func(p parts) { copy(p.leaf(1)[16+order.Uint32(p.leaf(1)[20:]):], "000001") },
		"has no key":                  noKey,
		"is not a list of free pages": func(p parts) { p.freelist()[8] = 2 },
		"more than fit":               func(p parts) { order.PutUint16(p.freelist()[10:], 0xFFFF); order.PutUint64(p.freelist()[16:], 1<<60) },
		"free pages: page":            func(p parts) { order.PutUint64(p.freelist()[16:], p.leafID(0)) },
		"it holds no page":            func(p parts) { order.PutUint64(p.root()[16+order.Uint32(p.root()[20:])+3:], 0) },
		`bucket "key": it has 0`:      func(p parts) { noBucket(p) },
	} {
		t.Run(want, func(t *testing.T) {
			p := parts{made(t, &bbolt.Options{}, fill)}
			damage(p)
			_, err := walk(p.db)
			if want, _, _ := strings.Cut(want, "is none: "); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("walked with %v", err)
			}
		})
	}
}

// noKey moves the bytes of the first key to its value, so that the key is empty.
func noKey(p parts) {
	e := p.leaf(0)[16:]
	order.PutUint32(e[12:], order.Uint32(e[12:])+order.Uint32(e[8:]))
	order.PutUint32(e[8:], 0)
}

// manyElements sets a count of elements that do not fit into the page.
func manyElements(p parts) {
	order.PutUint16(p.leaf(0)[10:], 0xFFFF)
	for at := 16; at+16 <= pageSize; at += 16 { // all of them without a key
		order.PutUint32(p.leaf(0)[at+4:], uint32(16*0xFFFF+16-at))
	}
}

// noBucket leaves one bucket in the root, with an empty value.
func noBucket(p parts) {
	root := p.root()
	order.PutUint16(root[10:], 1)
	order.PutUint32(root[20:], 16)
	copy(root[32:], "key")
	order.PutUint32(root[28:], 0)
}

func FuzzWalk(f *testing.F) {
	whole := made(f, &bbolt.Options{}, fill)
	f.Add(uint32(0), []byte{}, uint32(3), []byte("x"))
	f.Add(uint32(4*pageSize), []byte{1, 2}, uint32(5*pageSize+10), []byte{0xff, 0xff})
	f.Fuzz(func(t *testing.T, at uint32, with []byte, at2 uint32, with2 []byte) {
		p := parts{bytes.Clone(whole)}
		copy(p.db[at%uint32(len(p.db)):], with)
		copy(p.db[at2%uint32(len(p.db)):], with2)
		entries, err := walk(p.db)
		if most := len(p.db) / 16; entries > most {
			t.Errorf("%d entries in %d bytes (%v)", entries, len(p.db), err)
		}
	})
}
