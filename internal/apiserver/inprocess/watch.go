package inprocess

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// resumingWatch is a watch that outlives those it reads from.
//
// The server closes a watch that is not read for a few milliseconds, as on a machine with too much to do. A reflector
// would then look away for a second or more; this watch goes on at once after the last version it has seen.
type resumingWatch struct {
	kind    *kind
	options metav1.ListOptions
	events  chan watch.Event
	cancel  context.CancelFunc
}

func (k *kind) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &resumingWatch{kind: k, options: options, events: make(chan watch.Event), cancel: cancel}
	source, err := w.open(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	go w.run(ctx, source)
	return w, nil
}

// ResultChan implements watch.Interface.
func (w *resumingWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface.
func (w *resumingWatch) Stop() { w.cancel() }

func (w *resumingWatch) open(ctx context.Context) (watch.Interface, error) {
	return w.kind.Store.Watch(in(ctx, w.kind.shows), &metainternalversion.ListOptions{
		ResourceVersion: w.options.ResourceVersion, AllowWatchBookmarks: w.options.AllowWatchBookmarks,
	})
}

// run ends where the server cannot go on after the last version: the reflector then finds out why.
func (w *resumingWatch) run(ctx context.Context, source watch.Interface) {
	defer close(w.events)
	defer w.cancel()
	for w.forward(ctx, source) && w.resumable() {
		var err error
		if source, err = w.open(ctx); err != nil {
			return
		}
	}
}

// resumable is false while the version names no point in time: such a watch begins with all objects, in no order.
func (w *resumingWatch) resumable() bool {
	return w.options.ResourceVersion != "" && w.options.ResourceVersion != "0"
}

// forward hands events on and reports whether the server closed the source without saying why.
func (w *resumingWatch) forward(ctx context.Context, source watch.Interface) bool {
	defer source.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case e, open := <-source.ResultChan():
			if !open {
				return true
			}
			if !w.send(ctx, e) || e.Type == watch.Error {
				return false
			}
		}
	}
}

// send hands one event on, as the cache holds its object, and reports whether the reader got it.
func (w *resumingWatch) send(ctx context.Context, e watch.Event) bool {
	e.Object = w.kind.cachedObject(ctx, e)
	if m, err := meta.Accessor(e.Object); err == nil && w.resumable() {
		w.options.ResourceVersion = m.GetResourceVersion()
	}
	select {
	case <-ctx.Done():
		return false
	case w.events <- e:
		return true
	}
}
