package dirclaim

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/target"
)

// step is what is next on the way to a claim that stands for its directory.
type step int

const (
	done step = iota
	makeVolume
	makeClaim
	// deleteVolume deletes the volume of an earlier claim of the name, so that a new one can take its place. The directory stays.
	deleteVolume
	// awaitDeletion waits until that volume is gone.
	awaitDeletion
)

// next decides what is next. claim and volume are those of the names, nil if they do not exist.
//
//	claim     volume                                next
//	none      none                                  makeVolume
//	none      being deleted                         awaitDeletion
//	none      of the directory, never bound         makeClaim
//	none      of another directory or earlier claim deleteVolume
//	exists    none                                  makeVolume
//	exists    of the directory                      done
//
// All else is an error: what exists is not changed under the pods that may use it.
func (c Claim) next(namespace string, claim *corev1.PersistentVolumeClaim, volume *corev1.PersistentVolume, caller target.Caller) (step, error) {
	if volume != nil && !c.isOf(namespace, volume) {
		return done, command.BadInputf("%s: there is a PersistentVolume %s that is not of this claim: delete it with %s", c.Flag, volume.Name,
			caller.Command("", "delete", "pv", volume.Name))
	}
	if claim != nil {
		if err := c.usable(namespace, claim, volume, caller); err != nil {
			return done, err
		}
	}
	switch {
	case volume == nil:
		return makeVolume, nil
	case claim != nil:
		return done, nil
	case volume.DeletionTimestamp != nil:
		return awaitDeletion, nil
	case volume.Spec.HostPath.Path == c.Dir && volume.Spec.ClaimRef.UID == "":
		return makeClaim, nil
	}
	return deleteVolume, nil
}

// isOf reports whether the volume is one that this package has made for the claim.
func (c Claim) isOf(namespace string, volume *corev1.PersistentVolume) bool {
	of := volume.Spec.ClaimRef
	return volume.Spec.HostPath != nil && of != nil && of.Namespace == namespace && of.Name == c.Name
}

// usable returns why an existing claim cannot be the one that is asked for.
func (c Claim) usable(namespace string, claim *corev1.PersistentVolumeClaim, volume *corev1.PersistentVolume, caller target.Caller) error {
	deleteIt := caller.Command(namespace, "delete", "pvc", c.Name)
	switch {
	case claim.DeletionTimestamp != nil:
		return command.BadInputf("%s: the claim %s is being deleted, which takes until the pods that use it have ended: try again then", c.Flag, c.Name)
	case claim.Spec.VolumeName != c.VolumeName(namespace):
		return command.BadInputf("%s: there is a claim %s that does not stand for a directory of --claim: leave the flag out to use it, or delete it with %s",
			c.Flag, c.Name, deleteIt)
	case claim.Status.Phase == corev1.ClaimLost:
		return command.BadInputf("%s: the claim %s has lost its volume: delete it with %s", c.Flag, c.Name, deleteIt)
	case volume != nil && volume.Spec.HostPath.Path != c.Dir:
		return command.BadInputf("%s: the claim %s stands for %s: to change that, delete it with %s (the files stay)",
			c.Flag, c.Name, volume.Spec.HostPath.Path, deleteIt)
	}
	return nil
}
