package inprocess

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
