package store

import (
	"context"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// uncached is etcd as the storage for clients. All watches of etcd share a stream, and when a watch cache asks for its
// progress, all of them get the answer. It becomes a bookmark, which clients must not get unless they ask for it.
type uncached struct{ storage.Interface }

// Watch implements storage.Interface.
func (u uncached) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	source, err := u.Interface.Watch(ctx, key, opts)
	if err != nil || opts.Predicate.AllowWatchBookmarks {
		return source, err
	}
	return newRelay(func(r *relay) { r.forward(source, withoutBookmarks) }), nil
}

func withoutBookmarks(e watch.Event) (watch.Event, bool) {
	if e.Type == watch.Bookmark {
		return watch.Event{}, false
	}
	return e, false
}
