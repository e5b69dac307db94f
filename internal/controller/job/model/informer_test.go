package model_test

import (
	"strconv"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
)

// informer shows one process the objects of a table as late as the test wants it to. As with a real one, the store
// comes first, the handlers later, and the changes of one kind in their order.
type informer[T client.Object] struct {
	// What a controller asks beyond the methods below is not simulated.
	cache.SharedIndexInformer
	table   *table[T]
	store   cache.Store
	handler cache.ResourceEventHandler
	// seen is how much of the table's log the store shows.
	seen int
	// version is that of the newest change in the store. The controller asks for it at any time.
	version atomic.Int64
	// untold is what the handlers have not heard of.
	untold []news
	// told is asked for each object that the handlers hear of, lost for each whose end they hear of.
	told, lost func(T)
}

type news struct {
	was, is any
	// first marks objects of the list with which an informer begins.
	first bool
}

func newInformer[T client.Object](x *table[T], told, lost func(T)) *informer[T] {
	i := &informer[T]{table: x, store: cache.NewStore(cache.MetaNamespaceKeyFunc), told: told, lost: lost}
	i.version.Store(1) // an empty list has a version too
	return i
}

func (i *informer[T]) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handler = h
	return registration{}, nil
}

// registration of a handler that has heard the first list before the controller runs.
type registration struct{}

func (registration) HasSynced() bool { return true }

func (registration) HasSyncedChecker() cache.DoneChecker { return nil }

func (i *informer[T]) GetStore() cache.Store { return i.store }

func (i *informer[T]) LastSyncResourceVersion() string {
	return strconv.FormatInt(i.version.Load(), 10)
}

// list begins with the state of some time ago: a list may come from a cache of the server.
func (i *informer[T]) list(at int) {
	i.skip(at)
	for _, key := range sorted(i.store.ListKeys()) {
		obj, _, _ := i.store.GetByKey(key)
		i.untold = append(i.untold, news{is: obj, first: true})
	}
}

// skip takes changes into the store that nobody will hear of.
func (i *informer[T]) skip(to int) {
	for ; i.seen < to; i.seen++ {
		i.take(i.table.log[i.seen])
	}
}

func (i *informer[T]) take(c change[T]) (was any) {
	key := namespace + "/" + nameOf(c)
	was, _, _ = i.store.GetByKey(key)
	i.version.Store(int64(c.version))
	if c.new {
		_ = i.store.Update(c.is)
	} else {
		_ = i.store.Delete(c.was)
	}
	return was
}

func nameOf[T client.Object](c change[T]) string {
	if c.new {
		return c.is.GetName()
	}
	return c.was.GetName()
}

func (i *informer[T]) behind() int { return len(i.table.log) - i.seen }

// show brings n more changes into the store.
func (i *informer[T]) show(n int) {
	for ; n > 0 && i.behind() > 0; n-- {
		c := i.table.log[i.seen]
		was := i.take(c)
		i.seen++
		switch {
		case c.new:
			i.untold = append(i.untold, news{was: was, is: c.is})
		case was != nil:
			i.untold = append(i.untold, news{was: c.was})
		}
	}
}

// bookmark is what a server sends now and then to an informer that shows all: how new that is.
func (i *informer[T]) bookmark(version int) { i.version.Store(int64(version)) }

// tell lets the handlers hear of n more changes.
func (i *informer[T]) tell(n int) {
	for ; n > 0 && len(i.untold) > 0; n-- {
		x := i.untold[0]
		i.untold = i.untold[1:]
		switch {
		case x.is == nil:
			i.handler.OnDelete(x.was)
			if unseen, ok := x.was.(cache.DeletedFinalStateUnknown); ok {
				x.was = unseen.Obj
			}
			i.lost(x.was.(T))
			continue
		case x.was == nil:
			i.handler.OnAdd(x.is, x.first)
		default:
			i.handler.OnUpdate(x.was, x.is)
		}
		i.told(x.is.(T))
	}
}

// repeat tells the handlers again of all that the store shows, as a resync does.
func (i *informer[T]) repeat() {
	for _, key := range sorted(i.store.ListKeys()) {
		obj, _, _ := i.store.GetByKey(key)
		i.untold = append(i.untold, news{was: obj, is: obj})
	}
}

// relist is what follows when the watch broke and its changes are gone: the objects are listed and compared.
func (i *informer[T]) relist() {
	before := map[string]any{}
	for _, key := range i.store.ListKeys() {
		before[key], _, _ = i.store.GetByKey(key)
	}
	i.skip(len(i.table.log))
	for _, key := range sorted(i.store.ListKeys()) {
		obj, _, _ := i.store.GetByKey(key)
		i.untold = append(i.untold, news{was: before[key], is: obj})
		delete(before, key)
	}
	for _, key := range sortedKeys(before) {
		i.untold = append(i.untold, news{was: cache.DeletedFinalStateUnknown{Key: key, Obj: before[key]}})
	}
}
