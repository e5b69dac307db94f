package gc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// OwnerState is what an owner means for its dependents.
type OwnerState int

const (
	// Solid: it exists and keeps its dependents. An owner that is deleted in the background is solid until it is removed.
	Solid OwnerState = iota
	// Absent: it does not exist.
	Absent
	// Draining: it is being deleted in the foreground and waits for its dependents.
	Draining
	// Orphaning: it is being deleted, and its dependents stay.
	Orphaning
	// Unverifiable: it is not known whether it exists, as its kind is not served or cannot own this object.
	Unverifiable
)

// Owner is one owner reference and what became of it.
type Owner struct {
	UID   types.UID
	State OwnerState
}

// Observation is all that a decision about one object depends on.
type Observation struct {
	// State is the object's own, as its dependents see it: Solid, Draining or Orphaning.
	State OwnerState
	// Deleting: it has a deletion timestamp.
	Deleting bool
	// Foreground and Orphan tell which finalizer it has.
	Foreground, Orphan bool
	// Owners are in the order of its references.
	Owners []Owner
	// Dependents: an object names it as an owner. Blocked: an object does so with blockOwnerDeletion.
	Dependents, Blocked bool
	// Cycle: it waits, through other draining objects, for itself.
	Cycle bool
}

// Action is the kind of a Decision.
type Action int

const (
	// Nothing is to be done.
	Nothing Action = iota
	// Delete the object with the decision's Propagation.
	Delete
	// Release removes the references to the decision's Owners.
	Release
	// Unblock removes blockOwnerDeletion from the references to the decision's Owners.
	Unblock
	// Finalize removes the decision's Finalizer.
	Finalize
)

// Decision is what to do with one object.
type Decision struct {
	Action      Action
	Propagation metav1.DeletionPropagation
	Owners      []types.UID
	Finalizer   string
}

// rules in order: the first that answers decides. The list is the specification.
var rules = []func(Observation) (Decision, bool){
	orphanedByOwner,
	drained,
	breaksCycle,
	leftByDependents,
	alreadyDeleted,
	ownerless,
	keptByAnOwner,
	goesBeforeItsOwner,
	garbage,
}

// Decide returns what to do with an object.
func Decide(o Observation) Decision {
	for _, rule := range rules {
		if d, ok := rule(o); ok {
			return d
		}
	}
	return Decision{}
}

// orphanedByOwner comes first: the owner waits for this even if the object is being deleted itself.
func orphanedByOwner(o Observation) (Decision, bool) {
	uids := o.owners(Orphaning)
	return Decision{Action: Release, Owners: uids}, len(uids) > 0
}

func drained(o Observation) (Decision, bool) {
	return Decision{Action: Finalize, Finalizer: metav1.FinalizerDeleteDependents}, o.State == Draining && !o.Blocked
}

// breaksCycle lets owners that wait for each other be removed in any order.
func breaksCycle(o Observation) (Decision, bool) {
	return Decision{Action: Unblock, Owners: o.owners(Draining)}, o.State == Draining && o.Cycle
}

func leftByDependents(o Observation) (Decision, bool) {
	return Decision{Action: Finalize, Finalizer: metav1.FinalizerOrphanDependents}, o.State == Orphaning && !o.Dependents
}

func alreadyDeleted(o Observation) (Decision, bool) { return Decision{}, o.Deleting }

func ownerless(o Observation) (Decision, bool) { return Decision{}, len(o.Owners) == 0 }

// keptByAnOwner keeps what has an owner, or may have one. It drops the references to draining owners with those to
// absent ones: a draining owner would wait for ever for an object that stays.
func keptByAnOwner(o Observation) (Decision, bool) {
	if len(o.owners(Solid, Unverifiable)) == 0 {
		return Decision{}, false
	}
	gone := o.owners(Absent, Draining)
	if len(gone) == 0 {
		return Decision{}, true
	}
	return Decision{Action: Release, Owners: gone}, true
}

// goesBeforeItsOwner deletes a dependent in the foreground if it has dependents itself, so that they go before its owner.
func goesBeforeItsOwner(o Observation) (Decision, bool) {
	return Decision{Action: Delete, Propagation: metav1.DeletePropagationForeground},
		len(o.owners(Draining)) > 0 && o.Dependents
}

// garbage has no owner left. If it has one of the two finalizers, a client has already chosen the propagation policy.
func garbage(o Observation) (Decision, bool) {
	propagation := metav1.DeletePropagationBackground
	switch {
	case o.Orphan:
		propagation = metav1.DeletePropagationOrphan
	case o.Foreground:
		propagation = metav1.DeletePropagationForeground
	}
	return Decision{Action: Delete, Propagation: propagation}, true
}

func (o Observation) owners(states ...OwnerState) []types.UID {
	var uids []types.UID
	for _, owner := range o.Owners {
		for _, s := range states {
			if owner.State == s {
				uids = append(uids, owner.UID)
			}
		}
	}
	return uids
}
