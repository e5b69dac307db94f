package inprocess

import (
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// sharedInformer returns the one informer of this kind, indexed by namespace.
func (k *kind) sharedInformer() cache.SharedIndexInformer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.informer == nil {
		k.informer = cache.NewSharedIndexInformer(&listWatch{kind: k}, k.Resource.New(), 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		if k.Resource.Uncached {
			// It fails only if the informer already runs.
			_ = k.informer.SetTransform(k.metadataOnly)
		}
	}
	return k.informer
}

// informerIfAny returns the informer, or nil if it has not been requested.
func (k *kind) informerIfAny() cache.SharedIndexInformer {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.informer
}

// metadataOnly returns an object of this kind that has only the metadata of obj.
func (k *kind) metadataOnly(obj any) (any, error) {
	trimmed := k.Resource.New()
	const field = "ObjectMeta"
	reflect.ValueOf(trimmed).Elem().FieldByName(field).Set(reflect.ValueOf(obj).Elem().FieldByName(field))
	return trimmed, nil
}
