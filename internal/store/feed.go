package store

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/ptr"
)

// feed is the storage from which a watch cache is filled. It decides how long the cache keeps events, and passes them on to
// informers in this process, so that these share the objects of the cache and nothing is decoded or copied for them.
//
//	etcd ──► feed ──► watch cache ──► watches of clients
//	           └────► informers
type feed struct {
	storage.Interface
	// kind is the plural of the kind, for messages.
	kind string

	mu sync.Mutex
	// version is the resource version of the last event.
	version string
	// requested is the version for which progress was requested last.
	requested uint64
	open      map[*Subscription]struct{}
	// replaced is what only the history of the cache still has, and stop makes the cache list again.
	replaced replaced
	stop     func()
	// following is whether the watch of etcd moves.
	following following
}

func newFeed(direct storage.Interface, kind string) *feed {
	return &feed{Interface: direct, kind: kind, open: map[*Subscription]struct{}{}}
}

// Watch implements storage.Interface for the watch cache.
func (f *feed) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	opts.RecordTimestamps = false
	source, err := f.Interface.Watch(ctx, key, opts)
	if err != nil {
		return nil, err
	}
	initial := ptr.Deref(opts.SendInitialEvents, false)
	f.begin(initial, source.Stop)
	return newRelay(func(r *relay) {
		r.forward(source, f.received(initial))
		// The cache lists again, which empties its history.
		r.send(f.interrupt())
	}), nil
}

// begin prepares for the events of a new watch. Initial events do not tell what was deleted since a list that a subscriber
// got before, so such subscriptions end.
func (f *feed) begin(initial bool, stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stop = stop
	if initial && f.version != "" {
		f.endSubscriptions()
	}
}

// forget makes the cache drop its history if that keeps much that was replaced or deleted. All watches of the cache end:
// clients continue them, from etcd where the cache has forgotten.
func (f *feed) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.replaced.bytes < worthForgetting || f.stop == nil {
		return
	}
	f.replaced = replaced{}
	f.stop()
}

// received returns a function that is called for each event, and returns the event for the watch cache. Initial events
// are the content of the cache and not part of its history, so they have no time. A bookmark ends them.
func (f *feed) received(initial bool) func(watch.Event) (watch.Event, bool) {
	clock := &eventClock{}
	return func(e watch.Event) (watch.Event, bool) {
		if e.Type == watch.Error {
			return e, false
		}
		timed := e
		switch {
		case e.Type == watch.Bookmark:
			initial = false
		case !initial: // The size of an object is found before others read it: see sharingCodec.
			timed.Object = timedObject{e.Object, clock.next(time.Now(), e.Object)}
		}
		f.publish(e)
		return timed, false
	}
}

func (f *feed) publish(e watch.Event) {
	m, err := meta.Accessor(e.Object)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version = m.GetResourceVersion()
	f.replaced.add(e)
	for s := range f.open {
		s.add(e)
	}
}

// interrupt ends all subscriptions with an error, as events may be missing. It returns the error.
func (f *feed) interrupt() watch.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.endSubscriptions()
}

func (f *feed) endSubscriptions() watch.Event {
	gone := apierrors.NewResourceExpired("the watch of the store was interrupted").ErrStatus
	end := watch.Event{Type: watch.Error, Object: &gone}
	for s := range f.open {
		s.add(end)
	}
	clear(f.open)
	return end
}

// timedObject is the object of an event for the watch cache, with the time that the event has for it.
type timedObject struct {
	runtime.Object
	at time.Time
}

var _ storage.WatchEventWithRecordTime = timedObject{}

// RecordTime implements storage.WatchEventWithRecordTime.
func (t timedObject) RecordTime() time.Time { return t.at }

// Unwrap implements storage.WatchEventWithRecordTime.
func (t timedObject) Unwrap() runtime.Object { return t.Object }

// DeepCopyObject implements runtime.Object.
func (t timedObject) DeepCopyObject() runtime.Object {
	return timedObject{t.Object.DeepCopyObject(), t.at}
}

// GetObjectMeta returns the metadata of the object, which the reflector of the watch cache reads.
func (t timedObject) GetObjectMeta() metav1.Object {
	m, err := meta.Accessor(t.Object)
	if err != nil {
		return nil
	}
	return m
}
