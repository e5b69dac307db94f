package store

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// uncached is etcd as the storage for clients. All watches of etcd share a stream, and when a watch cache asks for its
// progress, all of them get the answer, also those that have not received all earlier events yet. It becomes a bookmark. A
// client that believed it would miss these events when it watches again, so bookmarks are left out.
type uncached struct{ storage.Interface }

// Watch implements storage.Interface.
func (u uncached) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	source, err := u.Interface.Watch(ctx, key, opts)
	if err != nil {
		return nil, err
	}
	return newRelay(func(r *relay) { r.forward(source, withoutProgress) }), nil
}

func withoutProgress(e watch.Event) (watch.Event, bool) {
	if e.Type == watch.Bookmark && !endsInitialEvents(e) {
		return watch.Event{}, false
	}
	return e, false
}

// endsInitialEvents reports whether a bookmark comes after all objects that the client asked for. That one is in order.
func endsInitialEvents(e watch.Event) bool {
	m, err := meta.Accessor(e.Object)
	return err == nil && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}
