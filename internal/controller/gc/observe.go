package gc

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ownerGraph has the owners and dependents of an observed object.
type ownerGraph interface {
	// owner returns the state of an owner that dependent names.
	owner(dependent metav1.Object, ref metav1.OwnerReference) (OwnerState, error)
	// known returns that owner if it is cached.
	known(dependent metav1.Object, ref metav1.OwnerReference) (metav1.Object, bool)
	// dependents returns the objects that name owner.
	dependents(owner metav1.Object) []metav1.Object
}

// observe returns the observation of obj, and as blocker the UID of one dependent that obj waits for, or "".
func observe(w ownerGraph, obj metav1.Object) (o Observation, blocker types.UID, err error) {
	o = Observation{
		State:      stateOf(obj),
		Deleting:   obj.GetDeletionTimestamp() != nil,
		Foreground: slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents),
		Orphan:     slices.Contains(obj.GetFinalizers(), metav1.FinalizerOrphanDependents),
	}
	for _, ref := range obj.GetOwnerReferences() {
		state, err := w.owner(obj, ref)
		if err != nil {
			return o, "", err
		}
		o.Owners = append(o.Owners, Owner{UID: ref.UID, State: state})
	}
	blocker = o.observeDependents(w, obj)
	o.Cycle = o.State == Draining && o.Blocked && waitsForItself(w, obj)
	return o, blocker, nil
}

func (o *Observation) observeDependents(w ownerGraph, obj metav1.Object) (blocker types.UID) {
	if o.State == Solid && len(o.Owners) == 0 {
		return "" // No rule reads Dependents or Blocked.
	}
	for _, d := range w.dependents(obj) {
		o.Dependents = true
		if o.State == Orphaning {
			return d.GetUID()
		}
		if blocks(d, obj.GetUID()) {
			o.Blocked = true
			return d.GetUID()
		}
	}
	return ""
}

// stateOf returns the state of obj as its dependents see it.
func stateOf(obj metav1.Object) OwnerState {
	switch {
	case obj.GetDeletionTimestamp() == nil:
		return Solid
	case slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return Draining
	case slices.Contains(obj.GetFinalizers(), metav1.FinalizerOrphanDependents):
		return Orphaning
	}
	return Solid
}

func blocks(dependent metav1.Object, owner types.UID) bool {
	return slices.ContainsFunc(dependent.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		return ref.UID == owner && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
	})
}

// waitsForItself reports whether obj is among its own draining owners, their owners and so on, as far as each blocks the
// next. It follows owners, as an object has fewer owners than dependents.
func waitsForItself(w ownerGraph, obj metav1.Object) bool {
	seen := map[types.UID]bool{}
	next := []metav1.Object{obj}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for _, ref := range at.GetOwnerReferences() {
			owner, ok := w.known(at, ref)
			if !ok || seen[ref.UID] || stateOf(owner) != Draining || !blocks(at, ref.UID) {
				continue
			}
			if ref.UID == obj.GetUID() {
				return true
			}
			seen[ref.UID] = true
			next = append(next, owner)
		}
	}
	return false
}
