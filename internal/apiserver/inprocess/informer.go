package inprocess

import (
	"context"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// sharedInformer returns the one informer of this kind, indexed by namespace.
func (k *kind) sharedInformer() cache.SharedIndexInformer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.informer == nil {
		k.informer = cache.NewSharedIndexInformer(listWatch{k}, k.Resource.New(), 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}
	return k.informer
}

// madeInformer returns the informer if somebody has asked for it.
func (k *kind) madeInformer() cache.SharedIndexInformer {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.informer
}

func waitFor(ctx context.Context, synced []cache.InformerSynced) bool {
	return cache.WaitForCacheSync(ctx.Done(), synced...)
}

// listWatch lists and watches the cache of the server.
type listWatch struct{ kind *kind }

// IsWatchListSemanticsUnSupported makes the reflector list: a list shares the objects of the cache, which a watch
// with initial events would copy one by one.
func (listWatch) IsWatchListSemanticsUnSupported() bool { return true }

func (l listWatch) List(options metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), options)
}

func (l listWatch) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), options)
}

// ListWithContext implements cache.ListerWithContext.
func (l listWatch) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return l.kind.Store.List(in(ctx, ""), &metainternalversion.ListOptions{
		ResourceVersion: options.ResourceVersion, ResourceVersionMatch: options.ResourceVersionMatch,
	})
}

// WatchWithContext implements cache.WatcherWithContext.
func (l listWatch) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w, err := l.kind.Store.Watch(in(ctx, ""), &metainternalversion.ListOptions{
		ResourceVersion: options.ResourceVersion, AllowWatchBookmarks: options.AllowWatchBookmarks,
	})
	if err != nil {
		return nil, err
	}
	return watch.Filter(w, func(e watch.Event) (watch.Event, bool) {
		e.Object = plain(e.Object)
		return e, true
	}), nil
}

// plain takes an object out of the wrapper in which the cache hands it to many watchers at once.
func plain(obj runtime.Object) runtime.Object {
	if wrapped, ok := obj.(runtime.CacheableObject); ok {
		return wrapped.GetObject()
	}
	return obj
}
