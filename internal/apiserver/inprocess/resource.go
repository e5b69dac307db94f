package inprocess

import (
	"context"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
)

// resource implements client.Resource. It only adds the Go type to kind.
type resource[T client.Object] struct{ kind *kind }

func (r resource[T]) Informer() cache.SharedIndexInformer { return r.kind.sharedInformer() }

func (r resource[T]) Get(ctx context.Context, namespace, name string) (T, error) {
	return typed[T](r.kind.get(ctx, namespace, name))
}

func (r resource[T]) List(ctx context.Context, namespace string, selector labels.Selector, each func(T)) (version string, err error) {
	return r.kind.list(ctx, namespace, selector, func(obj client.Object) { each(obj.(T)) })
}

func (r resource[T]) Create(ctx context.Context, obj T) (T, error) {
	return typed[T](r.kind.create(ctx, obj))
}

func (r resource[T]) UpdateStatus(ctx context.Context, obj T) (T, error) {
	return typed[T](r.kind.updateStatus(ctx, obj))
}

func (r resource[T]) Modify(ctx context.Context, observed T, change func(T)) (T, error) {
	return typed[T](r.kind.modify(ctx, observed, r.kind.Kind.Strategy, untyped(change)))
}

func (r resource[T]) ModifyStatus(ctx context.Context, observed T, change func(T)) (T, error) {
	return typed[T](r.kind.modify(ctx, observed, r.kind.Kind.StatusStrategy, untyped(change)))
}

func (r resource[T]) Delete(ctx context.Context, obj T, opts client.DeleteOptions) error {
	return r.kind.delete(ctx, obj, opts)
}

func typed[T client.Object](obj client.Object, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return obj.(T), nil
}

func untyped[T client.Object](change func(T)) func(client.Object) {
	return func(obj client.Object) { change(obj.(T)) }
}
