package inprocess

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
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

// informerIfAny returns the informer, or nil if it has not been requested.
func (k *kind) informerIfAny() cache.SharedIndexInformer {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.informer
}

func waitFor(ctx context.Context, synced []cache.InformerSynced) bool {
	return cache.WaitForCacheSync(ctx.Done(), synced...)
}

// listWatch lists and watches the server's cache.
type listWatch struct{ kind *kind }

// IsWatchListSemanticsUnSupported makes the reflector use a list instead of a watch with initial events, because a list
// shares the objects of the cache and such a watch copies them.
func (listWatch) IsWatchListSemanticsUnSupported() bool { return true }

func (l listWatch) List(options metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), options)
}

func (l listWatch) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), options)
}

// ListWithContext implements cache.ListerWithContext.
func (l listWatch) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return l.kind.Store.List(withNamespace(ctx, l.kind.namespace), &metainternalversion.ListOptions{
		ResourceVersion: options.ResourceVersion, ResourceVersionMatch: options.ResourceVersionMatch,
	})
}

// WatchWithContext implements cache.WatcherWithContext.
func (l listWatch) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return l.kind.watch(ctx, options)
}

// cachedObject returns the cached object for a watch event, so that the informer and the server's cache share it. If the
// cache already has a newer version, it returns the event's object.
func (k *kind) cachedObject(ctx context.Context, e watch.Event) runtime.Object {
	if e.Type == watch.Added || e.Type == watch.Modified {
		if obj := k.cached(ctx, e.Object); obj != nil {
			return obj
		}
	}
	// The cache wraps the objects that it sends to several watchers.
	if wrapped, ok := e.Object.(runtime.CacheableObject); ok {
		return wrapped.GetObject()
	}
	return e.Object
}

// cached returns obj from the cache, or nil if the cache has another version.
func (k *kind) cached(ctx context.Context, obj runtime.Object) runtime.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	held, err := k.Store.Get(withNamespace(ctx, m.GetNamespace()), m.GetName(), &metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return nil
	}
	if h, err := meta.Accessor(held); err != nil || h.GetResourceVersion() != m.GetResourceVersion() || h.GetUID() != m.GetUID() {
		return nil
	}
	return held
}
