package inprocess

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	storeerr "k8s.io/apiserver/pkg/storage/errors"

	"github.com/stint-dev/stint/internal/client"
)

// deleteFinalized deletes an object whose only finalizer is this one. Both are one transaction, so that the object is never
// seen without its finalizer.
func (k *kind) deleteFinalized(ctx context.Context, obj client.Object, finalizer string) error {
	ctx = withNamespace(ctx, obj.GetNamespace())
	key, err := k.Store.KeyFunc(ctx, obj.GetName())
	if err != nil {
		return err
	}
	uid := obj.GetUID()
	err = k.remove(ctx, key, &storage.Preconditions{UID: &uid}, func(_ context.Context, stored runtime.Object) error {
		has := stored.(client.Object).GetFinalizers()
		if len(has) == 1 && has[0] == finalizer {
			return nil
		}
		return apierrors.NewConflict(k.groupResource(), obj.GetName(), fmt.Errorf("its finalizers are %q, not only %s", has, finalizer))
	}, obj)
	return storeerr.InterpretDeleteError(err, k.groupResource(), obj.GetName())
}

// remove removes an object that meets the preconditions and may be deleted, whatever its finalizers.
func (k *kind) remove(ctx context.Context, key string, preconditions *storage.Preconditions, mayDelete storage.ValidateObjectFunc, observed client.Object) error {
	deleted := k.Store.NewFunc()
	err := k.Storage.Direct.Delete(ctx, key, deleted, preconditions, mayDelete, k.newest(ctx, key, observed), storage.DeleteOptions{})
	if err == nil && k.Store.AfterDelete != nil {
		k.Store.AfterDelete(deleted, &metav1.DeleteOptions{})
	}
	return err
}

// deleteVersion deletes an object if the stored version is that of obj, in one write that reads nothing: what a deletion means
// depends only on that version. It returns false if it has deleted nothing, because there is more to do than to remove the object.
func (k *kind) deleteVersion(ctx context.Context, obj client.Object, options *metav1.DeleteOptions) (deleted bool, err error) {
	version, err := k.Storage.Direct.Versioner().ObjectResourceVersion(obj)
	if err != nil || version == 0 || !k.isJustRemoved(ctx, obj, *options) {
		return false, nil
	}
	key, err := k.Store.KeyFunc(ctx, obj.GetName())
	if err != nil {
		return false, err
	}
	if err := k.Storage.DeleteVersion(ctx, key, int64(version)); err != nil {
		return false, storeerr.InterpretDeleteError(err, k.groupResource(), obj.GetName())
	}
	if k.Store.AfterDelete != nil {
		k.Store.AfterDelete(obj, options)
	}
	return true, nil
}

// isJustRemoved reports whether the deletion of obj needs no finalizer and no grace period, and no rules but those of all
// kinds, as that of a namespace does.
func (k *kind) isJustRemoved(ctx context.Context, obj client.Object, options metav1.DeleteOptions) bool {
	background := options.PropagationPolicy != nil && *options.PropagationPolicy == metav1.DeletePropagationBackground
	if !background || k.Resource.ClusterScoped || k.Resource.Uncached || len(obj.GetFinalizers()) > 0 {
		return false
	}
	graceful, pending, err := rest.BeforeDelete(k.Store.DeleteStrategy, ctx, obj.DeepCopyObject(), &options)
	return err == nil && !graceful && !pending
}
