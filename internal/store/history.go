package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

const (
	// pageRevisions is how many revisions, of all kinds, are looked at for a page.
	pageRevisions = 500
	// pageBytes is the encoded size after which a page ends.
	pageBytes = 64 << 10
)

// history has the events of one kind that its watch cache has dropped, but the database has not. A client that is behind gets them
// from here, page by page as it reads them. So it costs a page of memory, however far it is behind, and however long it waits.
type history struct {
	readers *readers
	kv      mvcc.KV
	backend backend.Backend
	codec   runtime.Codec
	new     func() runtime.Object
}

// watch returns the events after a version until now, and then a bookmark, which says how far that is. If the database has dropped
// them as well, the only event is the error that says so.
func (h *history) watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	after, err := storage.APIObjectVersioner{}.ParseResourceVersion(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	return newRelay(func(r *relay) {
		if err := h.send(ctx, r, wanted{keysOf(key, opts.Recursive), opts.Predicate}, int64(after)); err != nil {
			r.send(watch.Event{Type: watch.Error, Object: statusOf(err)})
		}
	}), nil
}

func statusOf(err error) runtime.Object {
	status := apierrors.NewInternalError(err).Status()
	if known, ok := err.(apierrors.APIStatus); ok {
		status = known.Status()
	}
	return &status
}

func (h *history) send(ctx context.Context, r *relay, w wanted, after int64) error {
	for {
		now := max(after, h.kv.Rev()) // A client hears of a write a moment before the database says that it is there.
		p, err := h.page(ctx, w.keys, after, now)
		if err != nil {
			return err
		}
		for _, c := range p.changes {
			e, err := h.event(ctx, c, w.predicate)
			if err != nil {
				return err
			}
			if e.Type != "" && !r.send(e) {
				return nil
			}
		}
		if after = p.last; after >= now {
			bookmark, err := versioned(h.new(), after)
			r.send(watch.Event{Type: watch.Bookmark, Object: bookmark})
			return err
		}
	}
}

// wanted is what a client watches.
type wanted struct {
	keys
	predicate storage.SelectionPredicate
}

// keys are the stored keys of objects: one, or all with a prefix.
type keys struct {
	key    string
	prefix bool
}

func keysOf(key string, recursive bool) keys {
	key = keyPrefix + key
	if recursive && !strings.HasSuffix(key, "/") {
		key += "/"
	}
	return keys{key, recursive}
}

func (k keys) has(key []byte) bool {
	if k.prefix {
		return bytes.HasPrefix(key, []byte(k.key))
	}
	return string(key) == k.key
}

// change is an entry of the database: a value that was stored, or a key that was deleted.
type change struct {
	*mvccpb.KeyValue
	deleted bool
}

// page has changes in their order, up to the revision last.
type page struct {
	changes []change
	last    int64
}

// page reads changes after a revision, but none after now.
func (h *history) page(ctx context.Context, k keys, after, now int64) (p page, err error) {
	err = h.readers.read(ctx, func(context.Context) (err error) {
		p, err = h.between(k, after, min(now, after+pageRevisions))
		return err
	})
	// A compaction removes entries later than it says so. What was read by now is complete.
	if err == nil && after+1 < h.kv.FirstRev() {
		err = tooOld()
	}
	return p, err
}

// between reads changes after one revision and up to another, or to one before it where they fill a page.
func (h *history) between(k keys, after, last int64) (page, error) {
	// A ConcurrentReadTx may have entries twice that have just been committed.
	tx := h.backend.ReadTx()
	tx.RLock()
	// The entries are those of the database until here.
	defer tx.RUnlock()
	revisions, entries := tx.UnsafeRange(schema.Key, startOf(after+1), startOf(last+1), 0)
	p := page{last: last}
	size := 0
	for i, entry := range entries {
		revision := mvcc.BytesToRev(revisions[i]).Main
		if size > pageBytes && revision > p.changes[len(p.changes)-1].ModRevision {
			p.last = revision - 1
			break
		}
		if !k.has(keyOf(entry)) {
			continue
		}
		c := change{&mvccpb.KeyValue{}, mvcc.IsTombstone(revisions[i])}
		if err := proto.Unmarshal(entry, c.KeyValue); err != nil {
			return page{}, err
		}
		c.ModRevision = revision // which the entry of a deletion does not have
		p.changes = append(p.changes, c)
		size += len(entry)
	}
	return p, nil
}

// startOf returns where the entries of a revision start.
func startOf(revision int64) []byte {
	return mvcc.RevToBytes(mvcc.Revision{Main: revision}, mvcc.NewRevBytes())
}

// keyOf returns the key of an entry, which is its first field, without decoding the rest: most entries are of other kinds.
func keyOf(entry []byte) []byte {
	_, _, tag := protowire.ConsumeTag(entry)
	if tag < 0 {
		return nil
	}
	key, _ := protowire.ConsumeBytes(entry[tag:])
	return key
}

// event returns what a change is for a client that selects objects, without a type if it is nothing.
func (h *history) event(ctx context.Context, c change, selected storage.SelectionPredicate) (_ watch.Event, err error) {
	var before, after runtime.Object
	is, was := false, c.deleted || c.CreateRevision < c.ModRevision
	if !c.deleted {
		if after, err = h.decode(c.Value, c.ModRevision); err != nil {
			return watch.Event{}, err
		}
		is = matches(selected, after)
	}
	if was && (c.deleted || !selected.Empty()) {
		if before, err = h.before(ctx, c); err != nil {
			return watch.Event{}, err
		}
		was = matches(selected, before)
	}
	switch {
	case is && was:
		return watch.Event{Type: watch.Modified, Object: after}, nil
	case is:
		return watch.Event{Type: watch.Added, Object: after}, nil
	case was:
		return watch.Event{Type: watch.Deleted, Object: before}, nil
	default:
		return watch.Event{}, nil
	}
}

func matches(selected storage.SelectionPredicate, obj runtime.Object) bool {
	ok, err := selected.Matches(obj)
	return ok && err == nil
}

// before returns the object that a change has replaced or deleted, with the version of the change.
func (h *history) before(ctx context.Context, c change) (obj runtime.Object, err error) {
	var previous *mvccpb.KeyValue
	err = h.readers.read(ctx, func(ctx context.Context) (err error) {
		previous, err = valueAt(ctx, h.kv, c.Key, c.ModRevision-1)
		return err
	})
	switch {
	case errors.Is(err, mvcc.ErrCompacted):
		return nil, tooOld()
	case err != nil:
		return nil, err
	case previous == nil:
		return nil, fmt.Errorf("%s has no value before revision %d", c.Key, c.ModRevision)
	}
	return h.decode(previous.Value, c.ModRevision)
}

func tooOld() error {
	return apierrors.NewResourceExpired("the resourceVersion is too old: what was before it has been dropped")
}

func (h *history) decode(data []byte, revision int64) (runtime.Object, error) {
	obj, err := runtime.Decode(h.codec, data)
	if err != nil {
		return nil, err
	}
	return versioned(obj, revision)
}

func versioned(obj runtime.Object, revision int64) (runtime.Object, error) {
	return obj, storage.APIObjectVersioner{}.UpdateObject(obj, uint64(revision))
}
