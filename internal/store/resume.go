package store

import (
	"context"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
)

// cached is the storage for clients: the watch cache, and etcd for watches from versions that the cache has dropped.
type cached struct {
	*cacher.CacheDelegator
	direct storage.Interface
}

// Watch implements storage.Interface.
func (c *cached) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	w, err := c.CacheDelegator.Watch(ctx, key, opts)
	if err != nil {
		return nil, err
	}
	first, ok := firstEvent(w)
	if !ok {
		return w, nil
	}
	if isExpired(first) {
		return c.resume(ctx, key, opts)
	}
	return newRelay(func(r *relay) {
		if r.send(first) {
			r.forward(w, unchanged)
		} else {
			w.Stop()
		}
	}), nil
}

// firstEvent returns the first event of a watch if it is there at once, as is the error that the version is too old.
func firstEvent(w watch.Interface) (watch.Event, bool) {
	select {
	case e, ok := <-w.ResultChan():
		return e, ok
	default:
		return watch.Event{}, false
	}
}

func isExpired(e watch.Event) bool {
	return e.Type == watch.Error && apierrors.IsResourceExpired(apierrors.FromObject(e.Object))
}

// resume watches etcd until it has caught up with the cache, and then the cache.
func (c *cached) resume(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	current, err := c.direct.GetCurrentResourceVersion(ctx)
	if err != nil {
		return nil, err
	}
	old, err := c.direct.Watch(ctx, key, opts)
	if err != nil {
		return nil, err
	}
	shown := unchanged
	if !opts.Predicate.AllowWatchBookmarks {
		shown = withoutBookmarks // See uncached.
	}
	return newRelay(func(r *relay) {
		caughtUp := r.forwardUntil(old, func(e watch.Event) (watch.Event, bool) {
			version := versionOf(e)
			opts.ResourceVersion = strconv.FormatUint(version, 10)
			return shown(e), version >= current
		})
		if !caughtUp {
			return
		}
		// If it fails, the client watches again.
		if w, err := c.Watch(ctx, key, opts); err == nil {
			r.forward(w, unchanged)
		}
	}), nil
}
