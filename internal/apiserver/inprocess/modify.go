package inprocess

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	storeerr "k8s.io/apiserver/pkg/storage/errors"

	"github.com/stint-dev/stint/internal/client"
)

// errLastFinalizerRemoved stops a write that removes the last finalizer of a deleted object. The object is deleted
// instead.
var errLastFinalizerRemoved = errors.New("the last finalizer is gone")

// modify applies change to the newest version of the object observed.
//
// The write starts from the newer one of observed and the cached version, without reading etcd. If that is the newest
// version, the write needs one transaction. Otherwise it is repeated with the version that etcd has.
func (k *kind) modify(ctx context.Context, observed client.Object, strategy rest.RESTUpdateStrategy, change func(client.Object)) (client.Object, error) {
	if strategy == nil {
		return nil, k.noStatus()
	}
	update := func(existing client.Object) (client.Object, error) {
		obj := existing.DeepCopyObject().(client.Object)
		change(obj)
		return obj, nil
	}
	out, err := k.write(ctx, observed, strategy, update)
	if storage.IsInvalidObj(err) {
		// Another object has the name: observed no longer exists.
		return nil, apierrors.NewNotFound(k.groupResource(), observed.GetName())
	}
	return out, k.interpret(err, observed.GetName())
}

// updateStatus replaces the status, if obj is the newest version.
func (k *kind) updateStatus(ctx context.Context, obj client.Object) (client.Object, error) {
	if k.StatusStrategy == nil {
		return nil, k.noStatus()
	}
	update := func(existing client.Object) (client.Object, error) {
		if obj.GetResourceVersion() != existing.GetResourceVersion() {
			return nil, apierrors.NewConflict(k.groupResource(), obj.GetName(), errors.New(genericregistry.OptimisticLockErrorMsg))
		}
		return obj.DeepCopyObject().(client.Object), nil
	}
	out, err := k.write(ctx, obj, k.StatusStrategy, update)
	if storage.IsInvalidObj(err) {
		return nil, apierrors.NewConflict(k.groupResource(), obj.GetName(), err)
	}
	return out, k.interpret(err, obj.GetName())
}

func (k *kind) interpret(err error, name string) error {
	if err == nil {
		return nil
	}
	return storeerr.InterpretUpdateError(err, k.groupResource(), name)
}

func (k *kind) write(ctx context.Context, observed client.Object, strategy rest.RESTUpdateStrategy, update func(client.Object) (client.Object, error)) (client.Object, error) {
	ctx = withNamespace(ctx, observed.GetNamespace())
	key, err := k.Store.KeyFunc(ctx, observed.GetName())
	if err != nil {
		return nil, err
	}
	uid := observed.GetUID()
	preconditions := &storage.Preconditions{UID: &uid}
	out := k.Store.NewFunc()
	try := func(existing runtime.Object, res storage.ResponseMeta) (runtime.Object, *uint64, error) {
		obj, err := update(existing.(client.Object))
		if err != nil {
			return nil, nil, err
		}
		if err := rest.BeforeUpdate(strategy, ctx, obj, existing); err != nil {
			return nil, nil, err
		}
		if genericregistry.ShouldDeleteDuringUpdate(ctx, key, obj, existing) &&
			(k.Store.ShouldDeleteDuringUpdate == nil || k.Store.ShouldDeleteDuringUpdate(ctx, key, obj, existing)) {
			return nil, nil, errLastFinalizerRemoved
		}
		ttl, err := k.ttl(obj, res)
		return obj, ttl, err
	}
	err = k.Storage.Direct.GuaranteedUpdate(ctx, key, out, false, preconditions, try, k.newest(ctx, key, observed))
	if errors.Is(err, errLastFinalizerRemoved) {
		err = k.remove(ctx, key, preconditions, storage.ValidateAllObjectFunc, observed)
		if storage.IsNotFound(err) {
			err = nil
		}
		return observed, err
	}
	if err != nil {
		return nil, err
	}
	return out.(client.Object), nil
}

// newest returns a copy of the cached object, or of observed if that is newer. It is a copy because the write changes it. The
// observed object of a status update has the new status already: a write that started from it would look like no change,
// which the store takes a read to believe. It returns nil if the write must read the object, as observed may be from an
// informer that has only the metadata.
func (k *kind) newest(ctx context.Context, key string, observed client.Object) runtime.Object {
	if k.Resource.Uncached {
		return nil
	}
	versioner := k.Storage.Direct.Versioner()
	seen, err := versioner.ObjectResourceVersion(observed)
	if err != nil {
		seen = 0
	}
	cached := k.Store.NewFunc()
	err = k.Store.Storage.Get(ctx, key, storage.GetOptions{ResourceVersion: "0"}, cached)
	if err == nil {
		if held, err := versioner.ObjectResourceVersion(cached); err == nil && held >= seen {
			return cached.DeepCopyObject()
		}
	}
	if seen == 0 {
		return nil
	}
	return observed.DeepCopyObject()
}

// ttl returns the time to live of an updated object, in seconds, or nil if its kind does not expire.
func (k *kind) ttl(obj runtime.Object, res storage.ResponseMeta) (*uint64, error) {
	if k.Store.TTLFunc == nil {
		return nil, nil
	}
	ttl, err := k.Store.TTLFunc(obj, uint64(max(res.TTL, 0)), true)
	return &ttl, err
}
