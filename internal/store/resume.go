package store

import (
	"context"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/utils/ptr"
)

// cached is the storage for clients: the watch cache, and the history for watches from versions that the cache has dropped.
type cached struct {
	*cacher.CacheDelegator
	history *history
}

// Watch implements storage.Interface. The watch cache closes a watch that is not read for a moment, which happens on a busy
// machine; kubectl would end then. This watch goes on after the last event that the client has received.
func (c *cached) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	p := position{
		known:     isVersion(opts.ResourceVersion) && !ptr.Deref(opts.SendInitialEvents, false),
		bookmarks: opts.Predicate.AllowWatchBookmarks,
	}
	opts.Predicate.AllowWatchBookmarks = true
	source, err := c.open(ctx, key, opts)
	if err != nil {
		return nil, err
	}
	return newRelay(func(r *relay) {
		for p.forward(r, source) && ctx.Err() == nil {
			opts.ResourceVersion, opts.ResourceVersionMatch, opts.SendInitialEvents = p.version, "", nil
			if source, err = c.open(ctx, key, opts); err != nil {
				return // the client watches again
			}
		}
	}), nil
}

// isVersion reports whether a watch with this version starts with later events. Others start with all objects.
func isVersion(version string) bool { return version != "" && version != "0" }

// opened is a watch of the cache or of the history.
type opened struct {
	watch.Interface
	// first has the event that was already read, if any.
	first []watch.Event
}

// open watches the cache or, if that has dropped the version, the history until now.
func (c *cached) open(ctx context.Context, key string, opts storage.ListOptions) (*opened, error) {
	w, err := c.CacheDelegator.Watch(ctx, key, opts)
	if err != nil {
		return nil, err
	}
	first := eventsAtOnce(w)
	if len(first) == 0 || !isExpired(first[0]) {
		return &opened{w, first}, nil
	}
	w.Stop()
	w, err = c.history.watch(ctx, key, opts)
	return &opened{w, nil}, err
}

// eventsAtOnce returns the first event of a watch if it is there at once, as is the error that the version is too old.
func eventsAtOnce(w watch.Interface) []watch.Event {
	select {
	case e, ok := <-w.ResultChan():
		if ok {
			return []watch.Event{e}
		}
	default:
	}
	return nil
}

func isExpired(e watch.Event) bool {
	return e.Type == watch.Error && apierrors.IsResourceExpired(apierrors.FromObject(e.Object))
}

// position is how far a client has come.
type position struct {
	// known is false while the client receives all objects, which come in no order and end with a bookmark.
	known   bool
	version string
	// bookmarks is whether the client wants bookmarks. They tell its position even if it does not.
	bookmarks bool
}

// forward passes events on until the source ends. It reports whether there may be more events after the position.
func (p *position) forward(r *relay, source *opened) bool {
	received, failed := false, false
	pass := func(e watch.Event) (watch.Event, bool) {
		received, failed = true, e.Type == watch.Error
		p.known = p.known || e.Type == watch.Bookmark
		p.version = strconv.FormatUint(versionOf(e), 10)
		if e.Type == watch.Bookmark && !p.bookmarks {
			return watch.Event{}, false
		}
		return e, failed
	}
	for _, e := range source.first {
		if e, last := pass(e); e.Type != "" && !r.send(e) || last {
			source.Stop()
			return false
		}
	}
	stopped := !r.forward(source, pass)
	// A watch that ends without an event would end again.
	return p.known && received && !failed && !stopped
}
