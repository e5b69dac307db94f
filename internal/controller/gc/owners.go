package gc

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// ownerCacheSize is how many owners each of the caches of owners holds.
const ownerCacheSize = 4096

// reference is an owner reference of a dependent, with the namespace in which to look for the owner.
type reference struct {
	schema.GroupKind
	namespace, name string
	uid             types.UID
}

// owners finds the owners of all objects, in the informers' caches or live.
type owners struct {
	kinds map[schema.GroupKind]*kind
	// absent holds references whose owner a live read has shown to be absent, each with whether an object in another
	// namespace has the UID. A UID is never used again.
	absent *lru.Cache
	// deletedOwners holds the UIDs of owners that were removed from an informer's cache.
	deletedOwners *lru.Cache
	// orphaned holds the UIDs of owners whose dependents were orphaned. A dependent that is created later stays too.
	orphaned *lru.Cache
}

func newOwners() *owners {
	return &owners{
		kinds:         map[schema.GroupKind]*kind{},
		absent:        lru.New(ownerCacheSize),
		deletedOwners: lru.New(ownerCacheSize),
		orphaned:      lru.New(ownerCacheSize),
	}
}

// resolve returns the kind and the name to look for an owner. It is not ok if the kind is not served or cannot own
// dependent.
func (o *owners) resolve(dependent metav1.Object, ref metav1.OwnerReference) (k *kind, r reference, ok bool) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil, r, false
	}
	gk := schema.GroupKind{Group: gv.Group, Kind: ref.Kind}
	if k, ok = o.kinds[gk]; !ok {
		return nil, r, false
	}
	r = reference{GroupKind: gk, name: ref.Name, uid: ref.UID}
	if k.Namespaced {
		r.namespace = dependent.GetNamespace()
	}
	return k, r, !k.Namespaced || r.namespace != ""
}

// cached returns the owner that ref names, if it is cached.
func (o *owners) cached(dependent metav1.Object, ref metav1.OwnerReference) (metav1.Object, bool) {
	k, r, ok := o.resolve(dependent, ref)
	if !ok {
		return nil, false
	}
	obj, ok := k.cached(r.namespace, r.name, r.uid)
	return obj, ok
}

// verify reads an owner live that is not cached. InOther means that the owner is absent and that its UID belongs to an
// object in another namespace.
func (o *owners) verify(ctx context.Context, k *kind, r reference) (state OwnerState, inOther bool, err error) {
	if _, ok := o.orphaned.Get(r.uid); ok {
		return Orphaning, false, nil
	}
	if inOther, ok := o.absent.Get(r); ok {
		return Absent, inOther.(bool), nil
	}
	obj, err := k.Get(ctx, r.namespace, r.name)
	switch {
	case apierrors.IsNotFound(err) || err == nil && obj.GetUID() != r.uid:
		_, wasDeleted := o.deletedOwners.Get(r.uid)
		inOther = !wasDeleted && k.hasInOtherNamespace(r.uid, r.namespace)
		o.absent.Add(r, inOther)
		return Absent, inOther, nil
	case err != nil:
		return Unverifiable, false, fmt.Errorf("look for owner %s %s/%s: %w", r.Kind, r.namespace, r.name, err)
	}
	return stateOf(obj), false, nil
}

// hasInOtherNamespace reads the whole cache: it is called only for references that are invalid.
func (k *kind) hasInOtherNamespace(uid types.UID, namespace string) bool {
	for _, found := range k.cache.List() {
		if obj, ok := found.(metav1.Object); ok && obj.GetUID() == uid {
			return obj.GetNamespace() != namespace
		}
	}
	return false
}
