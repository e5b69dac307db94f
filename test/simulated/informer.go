package simulated

import (
	"maps"
	"slices"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
)

// Informer is the cache of one process. It gets the changes of a table as late as the test wants. As in a real one, the
// store changes first and the handlers are called later, for the changes of one kind in their order.
type Informer[T client.Object] struct {
	// The interface is nil: methods that are not below are not simulated.
	cache.SharedIndexInformer
	table    *Table[T]
	store    cache.Indexer
	handlers []cache.ResourceEventHandler
	listed   bool
	// seen is how many changes of the table's log are in the store.
	seen int
	// version is that of the newest change in the store. It is atomic, as a controller may read it at any time.
	version atomic.Int64
	// undelivered are the changes for which the handlers have not been called yet.
	undelivered []notification
}

type notification struct {
	was, is any
	// first marks objects of the list with which an informer begins.
	first bool
}

// Feed is an Informer of any kind.
type Feed interface {
	List(late int)
	Deliver(n int)
	Notify(n int)
	Behind() int
	CachedVersion() int
	Next(n int) int
	Undelivered() int
	Repeat()
	Relist()
	begin()
	bookmark(version int)
}

func newInformer[T client.Object](x *Table[T]) *Informer[T] {
	return &Informer[T]{table: x, store: cache.NewIndexer(cache.MetaNamespaceKeyFunc,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
}

// AddEventHandler implements cache.SharedIndexInformer.
func (i *Informer[T]) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, h)
	return registration{}, nil
}

// registration belongs to a handler that has got the first list before the controller runs.
type registration struct{}

func (registration) HasSynced() bool { return true }

func (registration) HasSyncedChecker() cache.DoneChecker { return done{} }

// done is always done.
type done struct{}

func (done) Name() string { return "simulated" }

func (done) Done() <-chan struct{} { return closed }

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// GetStore implements cache.SharedIndexInformer.
func (i *Informer[T]) GetStore() cache.Store { return i.store }

// GetIndexer implements cache.SharedIndexInformer.
func (i *Informer[T]) GetIndexer() cache.Indexer { return i.store }

// AddIndexers implements cache.SharedIndexInformer.
func (i *Informer[T]) AddIndexers(x cache.Indexers) error { return i.store.AddIndexers(x) }

// HasSynced implements cache.SharedIndexInformer.
func (i *Informer[T]) HasSynced() bool { return true }

// LastSyncResourceVersion implements cache.SharedIndexInformer.
func (i *Informer[T]) LastSyncResourceVersion() string {
	return i.table.text(int(i.version.Load()))
}

// List fills the store with the objects as they were so many changes ago, since a server may answer a list from its
// cache. Notify then calls the handlers.
func (i *Informer[T]) List(late int) {
	i.listed = true
	i.skip(max(0, len(i.table.log)-late))
	if i.version.Store(int64(i.CachedVersion())); i.Behind() == 0 {
		i.version.Store(int64(i.table.server.version))
	}
	for _, key := range slices.Sorted(slices.Values(i.store.ListKeys())) {
		obj, _, _ := i.store.GetByKey(key)
		i.undelivered = append(i.undelivered, notification{is: obj, first: true})
	}
}

func (i *Informer[T]) begin() {
	if !i.listed {
		i.List(0)
	}
	i.Notify(len(i.undelivered))
}

// skip adds changes to the store without calling the handlers for them.
func (i *Informer[T]) skip(to int) {
	for ; i.seen < to; i.seen++ {
		i.take(i.table.log[i.seen])
	}
}

func (i *Informer[T]) take(c change[T]) (was any) {
	object := c.is
	if !c.new {
		object = c.was
	}
	was, _, _ = i.store.GetByKey(keyOf(object.GetNamespace(), object.GetName()))
	i.version.Store(int64(c.version))
	if c.new {
		_ = i.store.Update(c.is)
	} else {
		_ = i.store.Delete(c.was)
	}
	return was
}

// Behind is how many changes are not in the store yet.
func (i *Informer[T]) Behind() int { return len(i.table.log) - i.seen }

// CachedVersion is the version of the newest change in the store.
func (i *Informer[T]) CachedVersion() int { return i.versionAt(i.seen) }

// Next is the version of the newest change in the store once Show has added n more.
func (i *Informer[T]) Next(n int) int { return i.versionAt(i.seen + min(n, i.Behind())) }

func (i *Informer[T]) versionAt(changes int) int {
	if changes == 0 {
		return 1 // an empty list has a version too
	}
	return i.table.log[changes-1].version
}

// Undelivered is for how many changes the handlers have not been called yet.
func (i *Informer[T]) Undelivered() int { return len(i.undelivered) }

// Deliver adds n more changes to the store.
func (i *Informer[T]) Deliver(n int) {
	for ; n > 0 && i.Behind() > 0; n-- {
		c := i.table.log[i.seen]
		was := i.take(c)
		i.seen++
		switch {
		case c.new:
			i.undelivered = append(i.undelivered, notification{was: was, is: c.is})
		case was != nil:
			i.undelivered = append(i.undelivered, notification{was: c.was})
		}
	}
}

// bookmark sets the version of a store that has all changes, as the bookmarks of a server do.
func (i *Informer[T]) bookmark(version int) {
	if i.Behind() == 0 {
		i.version.Store(int64(version))
	}
}

// Notify calls the handlers for n more changes.
func (i *Informer[T]) Notify(n int) {
	for ; n > 0 && len(i.undelivered) > 0; n-- {
		x := i.undelivered[0]
		i.undelivered = i.undelivered[1:]
		for _, h := range i.handlers {
			switch {
			case x.is == nil:
				h.OnDelete(x.was)
			case x.was == nil:
				h.OnAdd(x.is, x.first)
			default:
				h.OnUpdate(x.was, x.is)
			}
		}
	}
}

// Repeat calls the handlers again, with the next Notify, for all objects in the store, as a resync does.
func (i *Informer[T]) Repeat() {
	for _, key := range slices.Sorted(slices.Values(i.store.ListKeys())) {
		obj, _, _ := i.store.GetByKey(key)
		i.undelivered = append(i.undelivered, notification{was: obj, is: obj})
	}
}

// Relist does what an informer does after a watch broke and its changes are lost: it lists the objects and compares
// them with the store.
func (i *Informer[T]) Relist() {
	before := map[string]any{}
	for _, key := range i.store.ListKeys() {
		before[key], _, _ = i.store.GetByKey(key)
	}
	i.skip(len(i.table.log))
	for _, key := range slices.Sorted(slices.Values(i.store.ListKeys())) {
		obj, _, _ := i.store.GetByKey(key)
		i.undelivered = append(i.undelivered, notification{was: before[key], is: obj})
		delete(before, key)
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		i.undelivered = append(i.undelivered, notification{was: cache.DeletedFinalStateUnknown{Key: key, Obj: before[key]}})
	}
}
