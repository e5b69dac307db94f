package inprocess

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
)

// kind implements the methods of resource for objects of any type.
type kind struct {
	Kind
	admit AdmitFunc
	// creator is Store without the cache.
	creator *genericregistry.Store
	// namespace is the only namespace that the informer shows; if it is empty, the informer shows all.
	namespace string

	mu       sync.Mutex
	informer cache.SharedIndexInformer
}

func newKind(k Kind, admit AdmitFunc) *kind {
	creator := *k.Store
	creator.Storage.Storage = k.Storage.Direct
	return &kind{Kind: k, admit: admit, creator: &creator}
}

func (k *kind) groupResource() schema.GroupResource { return k.Store.DefaultQualifiedResource }

// withNamespace adds the namespace of a request to its context, as the HTTP handlers do.
func withNamespace(ctx context.Context, namespace string) context.Context {
	return genericapirequest.WithNamespace(ctx, namespace)
}

func (k *kind) get(ctx context.Context, namespace, name string) (client.Object, error) {
	return object(k.Store.Get(withNamespace(ctx, namespace), name, &metav1.GetOptions{}))
}

func (k *kind) create(ctx context.Context, obj client.Object) (client.Object, error) {
	obj = obj.DeepCopyObject().(client.Object)
	rest.WipeObjectMetaSystemFields(obj)
	if k.Resource.Default != nil {
		k.Resource.Default(obj)
	}
	if err := k.admit(ctx, k.groupResource(), obj.GetNamespace(), obj.GetName()); err != nil {
		return nil, err
	}
	return object(k.creator.Create(withNamespace(ctx, obj.GetNamespace()), obj, nil, &metav1.CreateOptions{}))
}

func (k *kind) delete(ctx context.Context, obj client.Object, opts client.DeleteOptions) error {
	if opts.LastFinalizer != "" {
		return k.deleteFinalized(ctx, obj, opts.LastFinalizer)
	}
	uid := obj.GetUID()
	options := &metav1.DeleteOptions{GracePeriodSeconds: opts.GracePeriodSeconds}
	if uid != "" {
		options.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	if version := obj.GetResourceVersion(); opts.Unchanged && version != "" {
		if options.Preconditions == nil {
			options.Preconditions = &metav1.Preconditions{}
		}
		options.Preconditions.ResourceVersion = &version
	}
	if opts.Propagation != "" {
		options.PropagationPolicy = &opts.Propagation
	}
	ctx = withNamespace(ctx, obj.GetNamespace())
	if opts.Unchanged {
		if deleted, err := k.deleteVersion(ctx, obj, options); deleted || err != nil {
			return err
		}
	}
	_, _, err := k.Deleter.Delete(ctx, obj.GetName(), rest.ValidateAllObjectFunc, options)
	return err
}

// noStatus returns the error for status updates of a kind without status.
func (k *kind) noStatus() error {
	return apierrors.NewMethodNotSupported(k.groupResource(), "update the status of")
}

func object(obj runtime.Object, err error) (client.Object, error) {
	if err != nil {
		return nil, err
	}
	o, ok := obj.(client.Object)
	if !ok {
		return nil, fmt.Errorf("the store returned a %T, which has no metadata", obj)
	}
	return o, nil
}
