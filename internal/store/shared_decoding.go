package store

import (
	"bytes"
	"hash/maphash"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/lru"
)

const (
	// maxAwaited is the number of decoded objects that wait for their watch event. It is several times the number of writes
	// whose events are under way.
	maxAwaited = 64
	// maxShared is the size of the largest encoded object that is shared. It bounds the memory of objects that no event takes.
	maxShared = 32 << 10
)

// sharingCodec decodes once what would be decoded twice: the storage decodes the result of a write for its caller, and a
// few milliseconds later a watch gets the same bytes. Its event then has a shallow copy of the result.
//
// So no caller may change what is below the fields of a result. The resource version and the type are set by the storage
// after decoding, and not shared.
type sharingCodec struct {
	runtime.Codec
	seed maphash.Seed

	// taking makes sure that an object is taken only once.
	taking sync.Mutex
	// awaited has the decoded objects by the hash of their bytes.
	awaited *lru.Cache
}

func newSharingCodec(codec runtime.Codec) *sharingCodec {
	return &sharingCodec{Codec: codec, seed: maphash.MakeSeed(), awaited: lru.New(maxAwaited)}
}

// decoded is an object without type, and the bytes and the type that it was decoded from.
type decoded struct {
	data   []byte
	object runtime.Object
	kind   schema.GroupVersionKind
}

// Decode implements runtime.Decoder. The storage passes into for results of writes and reads, but not for watch events.
func (c *sharingCodec) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if len(data) > maxShared {
		return c.Codec.Decode(data, defaults, into)
	}
	hash := maphash.Bytes(c.seed, data)
	if into == nil {
		if d, ok := c.take(hash, data); ok {
			return d.object, &d.kind, nil
		}
		return c.Codec.Decode(data, defaults, nil)
	}
	obj, kind, err := c.Codec.Decode(data, defaults, into)
	if err == nil {
		encodedSize(obj) // It sets the texts of quantities, which must not change any more when others read the object.
		c.awaited.Add(hash, decoded{data, withoutType(obj), *kind})
	}
	return obj, kind, err
}

// take returns the object that was decoded from data. Its taker owns its metadata, so it is removed.
func (c *sharingCodec) take(hash uint64, data []byte) (decoded, bool) {
	c.taking.Lock()
	defer c.taking.Unlock()
	found, _ := c.awaited.Get(hash)
	d, ok := found.(decoded)
	if !ok || !bytes.Equal(d.data, data) {
		return decoded{}, false
	}
	c.awaited.Remove(hash)
	return d, true
}

// withoutType returns a shallow copy of obj that has no type, as a codec returns it when it decodes into no object.
func withoutType(obj runtime.Object) runtime.Object {
	v := reflect.ValueOf(obj).Elem()
	shallow := reflect.New(v.Type())
	shallow.Elem().Set(v)
	copied := shallow.Interface().(runtime.Object)
	copied.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return copied
}
