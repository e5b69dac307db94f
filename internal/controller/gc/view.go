package gc

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// view is the ownerGraph for the sync of one item.
type view struct {
	*Collector
	ctx  context.Context
	item item
	// notYetCached: an owner exists that is not cached yet. If it is removed before it is cached, no event queues the item, so
	// the item is requeued.
	notYetCached bool
}

func (v *view) known(dependent metav1.Object, ref metav1.OwnerReference) (metav1.Object, bool) {
	return v.owners.cached(dependent, ref)
}

func (v *view) owner(dependent metav1.Object, ref metav1.OwnerReference) (OwnerState, error) {
	k, r, ok := v.owners.resolve(dependent, ref)
	if !ok {
		v.reportClusterScoped(ref)
		return Unverifiable, nil
	}
	if obj, ok := k.cached(r.namespace, r.name, r.uid); ok {
		return stateOf(obj), nil
	}
	state, inOther, err := v.owners.verify(v.ctx, k, r)
	if err != nil {
		return state, err
	}
	if inOther {
		v.reportNamespace(ref)
	}
	if state == Solid || state == Draining {
		v.notYetCached = true
	}
	return state, nil
}

func (v *view) dependents(owner metav1.Object) []metav1.Object {
	return v.dependentsOf(owner, owner.GetNamespace())
}

// dependentsOf returns the cached objects that name owner, in one namespace or, if that is empty, in all. An object that
// names itself as its owner is not its own dependent.
func (c *Collector) dependentsOf(owner metav1.Object, namespace string) []metav1.Object {
	var all []metav1.Object
	for _, k := range c.kinds {
		for _, found := range k.dependentsOf(owner.GetUID()) {
			obj, ok := found.(metav1.Object)
			if ok && obj.GetUID() != owner.GetUID() && (namespace == "" || obj.GetNamespace() == namespace) {
				all = append(all, obj)
			}
		}
	}
	return all
}

// reportClusterScoped records an event if a cluster-scoped object names an owner that is in a namespace.
func (v *view) reportClusterScoped(ref metav1.OwnerReference) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil || v.item.namespace != "" {
		return
	}
	k, ok := v.owners.kinds[schema.GroupKind{Group: gv.Group, Kind: ref.Kind}]
	if ok && k.hasInOtherNamespace(ref.UID, "") {
		v.reportNamespace(ref)
	}
}

// reportNamespace records an event about an owner in a namespace that the item may not refer to.
func (v *view) reportNamespace(ref metav1.OwnerReference) {
	about := &corev1.ObjectReference{
		APIVersion: v.item.kind.GroupVersion().String(), Kind: v.item.kind.Kind.Kind,
		Namespace: v.item.namespace, Name: v.item.name, UID: v.item.uid,
	}
	owner := fmt.Sprintf("[%s/%s, namespace: %s, name: %s, uid: %s]",
		ref.APIVersion, ref.Kind, v.item.namespace, ref.Name, ref.UID)
	v.recorder.Eventf(about, corev1.EventTypeWarning, "OwnerRefInvalidNamespace",
		"ownerRef %s does not exist in namespace %q", owner, v.item.namespace)
}
