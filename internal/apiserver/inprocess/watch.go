package inprocess

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// resumingWatch is a watch that opens a new server watch when the server closes the old one.
//
// The server closes a watch that is not read for a few milliseconds, which happens on a busy machine. A reflector would
// then wait a second or more before it watches again. This watch resumes at once, after the last version that it has
// seen.
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
	return w.kind.Store.Watch(withNamespace(ctx, w.kind.namespace), &metainternalversion.ListOptions{
		ResourceVersion: w.options.ResourceVersion, AllowWatchBookmarks: w.options.AllowWatchBookmarks,
	})
}

// run forwards events. It ends if the server cannot resume after the last version: the reflector then lists again.
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

// resumable reports whether the watch has a version to resume from. A watch without one starts with all objects, whose
// versions are in no order.
func (w *resumingWatch) resumable() bool {
	return w.options.ResourceVersion != "" && w.options.ResourceVersion != "0"
}

// forward forwards the events of source. It reports whether the server closed source without an error event.
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

// send sends one event with the cached object. It reports whether the event was received.
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
