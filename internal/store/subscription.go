package store

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// Subscription is a queue of the events that a watch cache receives. The objects are those of the cache and must not be
// changed. The queue has no limit, because a full one would stop the cache. Informers take events as fast as they come, and
// their own queue has no limit either.
type Subscription struct {
	feed *feed
	// changed has an element if there may be events.
	changed chan struct{}

	mu     sync.Mutex
	events []watch.Event
}

// Subscribe returns a subscription to all events after the returned resource version, which is empty if there were none yet.
// It returns nil if the kind is not cached. The caller calls Watch or Close.
func (s *Storage) Subscribe() (_ *Subscription, version string) {
	if s.feed == nil {
		return nil, ""
	}
	return s.feed.subscribe()
}

func (f *feed) subscribe() (*Subscription, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &Subscription{feed: f, changed: make(chan struct{}, 1)}
	f.open[s] = struct{}{}
	return s, f.version
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	delete(s.feed.open, s)
}

// Watch returns the events after version, without objects for which selects is false. The watch ends with an error event when
// the watch cache itself was interrupted. It may be called once; when the watch is stopped, the subscription is closed.
func (s *Subscription) Watch(ctx context.Context, version string, selects func(runtime.Object) bool) (watch.Interface, error) {
	after, err := storage.APIObjectVersioner{}.ParseResourceVersion(version)
	if err != nil {
		s.Close()
		return nil, err
	}
	return newRelay(func(r *relay) {
		defer s.Close()
		for s.wait(ctx, r.stopped) {
			for _, e := range s.takeAfter(after) {
				if selects(e.Object) && !r.send(e) || e.Type == watch.Error {
					return
				}
			}
		}
	}), nil
}

func (s *Subscription) wait(ctx context.Context, stopped <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-stopped:
		return false
	case <-s.changed:
		return true
	}
}

func (s *Subscription) add(e watch.Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// takeAfter removes all events from the queue, and returns those that are newer than version.
func (s *Subscription) takeAfter(version uint64) []watch.Event {
	s.mu.Lock()
	events := s.events
	s.events = nil
	s.mu.Unlock()
	return slices.DeleteFunc(events, func(e watch.Event) bool {
		return e.Type != watch.Error && versionOf(e) <= version
	})
}

// versionOf returns the resource version of an event, or 0 if it has none.
func versionOf(e watch.Event) uint64 {
	m, err := meta.Accessor(e.Object)
	if err != nil {
		return 0
	}
	return parsedVersion(m.GetResourceVersion())
}

// parsedVersion returns the revision that a resource version stands for, or 0 if it is none.
func parsedVersion(version string) uint64 {
	revision, err := storage.APIObjectVersioner{}.ParseResourceVersion(version)
	if err != nil {
		return 0
	}
	return revision
}
