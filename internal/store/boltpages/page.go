package boltpages

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	pageHeaderSize   = 16
	elementSize      = 16 // of a branch and of a leaf
	bucketHeaderSize = 16

	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10

	bucketFlag = 1 // of a leaf's element

	// countElsewhere is the count in the header of a freelist page if the real count is too large for it. Then the first
	// element is the count.
	countElsewhere = 0xFFFF
)

var order = binary.NativeEndian

// page is a page with its overflow pages: a header, elements, and the keys and values that the elements point to.
type page struct{ bytes []byte }

func (p page) id() uint64       { return order.Uint64(p.bytes) }
func (p page) flags() uint16    { return order.Uint16(p.bytes[8:]) }
func (p page) count() int       { return int(order.Uint16(p.bytes[10:])) }
func (p page) overflow() uint64 { return uint64(order.Uint32(p.bytes[12:])) }

// dataStart is the offset of the first element's data. bbolt writes keys and values behind the elements without gaps, in
// the order of the elements. Elements that point elsewhere, or a wrong count, are therefore damage.
func (p page) dataStart() uint64 { return uint64(pageHeaderSize + elementSize*p.count()) }

// data returns the data of element i, which must be at offset start, and the offset of the next element's data.
func (p page) data(i int, pos uint32, length, start uint64) (data []byte, next uint64, err error) {
	at := uint64(pageHeaderSize+elementSize*i) + uint64(pos)
	if at != start {
		return nil, 0, fmt.Errorf("has its key at %d instead of %d", at, start)
	}
	next = at + length
	if next > uint64(len(p.bytes)) {
		return nil, 0, fmt.Errorf("ends at %d, beyond the page's %d bytes", next, len(p.bytes))
	}
	return p.bytes[at:next], next, nil
}

func (p page) element(i int) ([]byte, error) {
	at := pageHeaderSize + elementSize*i
	if at+elementSize > len(p.bytes) {
		return nil, errors.New("lies beyond its page")
	}
	return p.bytes[at:], nil
}

type branchElement struct {
	key   []byte
	child uint64
}

func (p page) branchElements(keys span) ([]branchElement, error) {
	elements := make([]branchElement, 0, p.count())
	var before []byte
	start := p.dataStart()
	for i := range p.count() {
		e, err := p.element(i)
		var key []byte
		if err == nil {
			key, start, err = p.data(i, order.Uint32(e), uint64(order.Uint32(e[4:])), start)
		}
		if err == nil {
			err = keys.check(key, before)
		}
		if err != nil {
			return nil, fmt.Errorf("element %d %w", i, err)
		}
		elements = append(elements, branchElement{key: key, child: order.Uint64(e[8:])})
		before = key
	}
	return elements, nil
}

type leafElement struct {
	key, value []byte
	isBucket   bool
}

func (p page) leafElement(i int, start uint64) (leaf leafElement, next uint64, err error) {
	e, err := p.element(i)
	if err != nil {
		return leafElement{}, 0, err
	}
	flags, keySize := order.Uint32(e), uint64(order.Uint32(e[8:]))
	if flags > bucketFlag {
		return leafElement{}, 0, fmt.Errorf("is neither a value nor a bucket (%#x)", flags)
	}
	data, next, err := p.data(i, order.Uint32(e[4:]), keySize+uint64(order.Uint32(e[12:])), start)
	if err != nil {
		return leafElement{}, 0, err
	}
	return leafElement{key: data[:keySize:keySize], value: data[keySize:], isBucket: flags == bucketFlag}, next, nil
}

// freePages returns the page numbers, eight bytes each, of a freelist page.
func (p page) freePages() ([]byte, error) {
	if p.flags() != freelistFlag {
		return nil, fmt.Errorf("is not a list of free pages (%#x)", p.flags())
	}
	ids, count := p.bytes[pageHeaderSize:], uint64(p.count())
	if count == countElsewhere {
		count, ids = order.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		return nil, fmt.Errorf("lists %d free pages, more than fit", count)
	}
	return ids[:count*8], nil
}
