package inprocess

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/stint-dev/stint/internal/store"
)

// listWatch is the ListerWatcher of an informer. It shares the objects and the events of the server's cache. Kinds that are
// not cached are read from the store.
type listWatch struct {
	kind *kind

	mu sync.Mutex
	// next has the events since the last list. The next watch takes it.
	next *store.Subscription
}

// IsWatchListSemanticsUnSupported makes the reflector use a list instead of a watch with initial events, because a list
// shares the objects of the cache. A kind that is not cached is better read object by object.
func (l *listWatch) IsWatchListSemanticsUnSupported() bool { return !l.kind.Resource.Uncached }

func (l *listWatch) List(options metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), options)
}

func (l *listWatch) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), options)
}

// ListWithContext implements cache.ListerWithContext.
func (l *listWatch) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	version := options.ResourceVersion
	match := options.ResourceVersionMatch
	if received := l.subscribe(); received != "" && version != "" {
		// The subscription has only later events, so the list must not be older.
		version, match = received, metav1.ResourceVersionMatchNotOlderThan
	}
	return l.kind.Store.List(withNamespace(ctx, l.kind.namespace), &metainternalversion.ListOptions{
		ResourceVersion: version, ResourceVersionMatch: match,
	})
}

// subscribe subscribes for the next watch. It returns the version of the last event before.
func (l *listWatch) subscribe() (version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next != nil {
		l.next.Close()
	}
	l.next, version = l.kind.Storage.Subscribe()
	return version
}

// WatchWithContext implements cache.WatcherWithContext.
func (l *listWatch) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if l.kind.Resource.Uncached {
		return l.kind.Store.Watch(withNamespace(ctx, l.kind.namespace), &metainternalversion.ListOptions{
			ResourceVersion: options.ResourceVersion, ResourceVersionMatch: options.ResourceVersionMatch,
			AllowWatchBookmarks: options.AllowWatchBookmarks, SendInitialEvents: options.SendInitialEvents,
		})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil {
		return nil, apierrors.NewResourceExpired("the events since this version were not kept: list again")
	}
	events := l.next
	l.next = nil
	return events.Watch(ctx, options.ResourceVersion, l.kind.shows)
}

// shows reports whether the informer shows this object.
func (k *kind) shows(obj runtime.Object) bool {
	if k.namespace == "" {
		return true
	}
	m, err := meta.Accessor(obj)
	return err != nil || m.GetNamespace() == "" || m.GetNamespace() == k.namespace
}
