package apiserver

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/klog/v2"
)

// keepExisting creates those of the objects that are missing, now and whenever an object of the store is deleted. They have no
// namespace.
func keepExisting[T runtime.Object](ctx context.Context, store *genericregistry.Store, objects func() []T) error {
	create := func() error {
		for _, obj := range objects() {
			_, err := store.Create(clusterWide(ctx), obj, nil, &metav1.CreateOptions{})
			if err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
		}
		return nil
	}
	store.AfterDelete = func(_ runtime.Object, options *metav1.DeleteOptions) {
		if len(options.DryRun) > 0 {
			return
		}
		if err := create(); err != nil && ctx.Err() == nil {
			klog.ErrorS(err, "Failed to create a default object", "resource", store.DefaultQualifiedResource)
		}
	}
	return create()
}
