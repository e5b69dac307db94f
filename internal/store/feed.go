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

	mu sync.Mutex
	// version is the resource version of the last event.
	version string
	open    map[*Subscription]struct{}
}

func newFeed(direct storage.Interface) *feed {
	return &feed{Interface: direct, open: map[*Subscription]struct{}{}}
}

// Watch implements storage.Interface for the watch cache.
func (f *feed) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	opts.RecordTimestamps = false
	source, err := f.Interface.Watch(ctx, key, opts)
	if err != nil {
		return nil, err
	}
	return newRelay(func(r *relay) {
		r.forward(source, f.received(ptr.Deref(opts.SendInitialEvents, false)))
		f.interrupt()
	}), nil
}

// received returns a function that is called for each event, and returns the event for the watch cache. Initial events
// are the content of the cache and not part of its history, so they have no time. A bookmark ends them.
func (f *feed) received(initial bool) func(watch.Event) (watch.Event, bool) {
	clock := &eventClock{}
	return func(e watch.Event) (watch.Event, bool) {
		if e.Type == watch.Error {
			return e, false
		}
		f.publish(e)
		switch {
		case e.Type == watch.Bookmark:
			initial = false
		case !initial:
			e.Object = timedObject{e.Object, clock.next(time.Now(), e.Object)}
		}
		return e, false
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
	for s := range f.open {
		s.add(e)
	}
}

// interrupt ends all subscriptions: the watch cache lists again, so that events may be missing.
func (f *feed) interrupt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	gone := apierrors.NewResourceExpired("the watch of the store was interrupted").ErrStatus
	for s := range f.open {
		s.add(watch.Event{Type: watch.Error, Object: &gone})
	}
	clear(f.open)
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
