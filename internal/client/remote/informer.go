package remote

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
)

// Informer returns an informer that gets the existing objects through its watch instead of a list, if the API server
// supports it.
func (r *resource[T]) Informer() cache.SharedIndexInformer {
	r.once.Do(func() {
		example, err := scheme.New(r.GroupVersionKind)
		if err != nil {
			panic(fmt.Sprintf("the scheme does not know %s", r.GroupVersionKind))
		}
		r.informer = cache.NewSharedIndexInformer(
			&cache.ListWatch{ListWithContextFunc: r.list, WatchFuncWithContext: r.watch},
			example, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		// SetTransform fails only if the informer already runs.
		if err := r.informer.SetTransform(r.trimmed); err != nil {
			panic(err)
		}
		r.owner.add(r)
	})
	return r.informer
}

func (r *resource[T]) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := scheme.New(r.GroupVersion().WithKind(r.Kind + "List"))
	if err != nil {
		return nil, err
	}
	err = r.whenServed(ctx, func() error {
		return r.namespaced(r.watches.Get(), metav1.NamespaceAll).VersionedParams(&options, parameters).Do(ctx).Into(list)
	})
	return list, err
}

func (r *resource[T]) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	var w watch.Interface
	err := r.whenServed(ctx, func() (err error) {
		w, err = r.watchOnce(ctx, options)
		return err
	})
	return w, err
}

// watchOnce opens a watch. It ends the watch itself if the API server should have ended it and has not.
func (r *resource[T]) watchOnce(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(ptr.Deref(options.TimeoutSeconds, 0))*time.Second+r.timeout)
	w, err := r.watches.Get().Resource(r.plural).VersionedParams(&options, parameters).Watch(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	return cancellingWatch{w, cancel}, nil
}

// cancellingWatch cancels its context when it is stopped.
type cancellingWatch struct {
	watch.Interface
	cancel context.CancelFunc
}

func (w cancellingWatch) Stop() {
	w.Interface.Stop()
	w.cancel()
}

func (r *resource[T]) trimmed(obj any) (any, error) {
	if o, ok := obj.(T); ok {
		r.trim(client.Object(o))
	}
	return obj, nil
}
