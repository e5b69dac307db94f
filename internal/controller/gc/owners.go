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

// ownerCacheSize bounds what is kept about owners that are gone.
const ownerCacheSize = 4096

// reference is an owner as a dependent names it, with the namespace to look in.
type reference struct {
	schema.GroupKind
	namespace, name string
	uid             types.UID
}

// owners knows the owners of all objects: from the caches, else from the API server.
type owners struct {
	kinds map[schema.GroupKind]*kind
	// absent holds references that the API server said are of no object, and whether another namespace has the
	// UID. A UID never comes back.
	absent *lru.Cache
	// deletedOwners holds the UIDs of owners that were seen to go.
	deletedOwners *lru.Cache
	// orphaned holds the UIDs of owners whose dependents were to stay. A dependent that shows up late stays too.
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

// resolve tells in which kind and under what name to look for an owner; not ok if it cannot own dependent.
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

// cached returns an owner that the caches hold.
func (o *owners) cached(dependent metav1.Object, ref metav1.OwnerReference) (metav1.Object, bool) {
	k, r, ok := o.resolve(dependent, ref)
	if !ok {
		return nil, false
	}
	obj, ok := k.cached(r.namespace, r.name, r.uid)
	return obj, ok
}

// verify reads an owner that the caches do not hold from the API server. Foreign tells that an absent owner's UID
// belongs to an object of another namespace.
func (o *owners) verify(ctx context.Context, k *kind, r reference) (state OwnerState, foreign bool, err error) {
	if _, ok := o.orphaned.Get(r.uid); ok {
		return Orphaning, false, nil
	}
	if foreign, ok := o.absent.Get(r); ok {
		return Absent, foreign.(bool), nil
	}
	obj, err := k.Get(ctx, r.namespace, r.name)
	switch {
	case apierrors.IsNotFound(err) || err == nil && obj.GetUID() != r.uid:
		_, departed := o.deletedOwners.Get(r.uid)
		foreign = !departed && k.hasInOtherNamespace(r.uid, r.namespace)
		o.absent.Add(r, foreign)
		return Absent, foreign, nil
	case err != nil:
		return Unverifiable, false, fmt.Errorf("look for owner %s %s/%s: %w", r.Kind, r.namespace, r.name, err)
	}
	return stateOf(obj), false, nil
}

// hasInOtherNamespace scans: it is asked only about references that nobody should have made.
func (k *kind) hasInOtherNamespace(uid types.UID, namespace string) bool {
	for _, found := range k.cache.List() {
		if obj, ok := found.(metav1.Object); ok && obj.GetUID() == uid {
			return obj.GetNamespace() != namespace
		}
	}
	return false
}
