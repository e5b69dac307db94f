package persistentvolume

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"
)

// VolumeObservation is all that a decision about a volume depends on.
type VolumeObservation struct {
	Volume *corev1.PersistentVolume
	// Claim is the one that the volume names with its UID, nil if it does not exist.
	Claim *corev1.PersistentVolumeClaim
	// CanRemove is set on a server that can remove local volumes.
	CanRemove bool
}

// VolumeDecision is what is to be done about a volume, in the order of the fields.
type VolumeDecision struct {
	// Unbind takes the claim off the volume.
	Unbind bool
	// Phase is the phase of the volume, with a message; empty leaves it.
	Phase           corev1.PersistentVolumePhase
	Reason, Message string
	Event           Event
	// Reclaim removes the data, and then the volume.
	Reclaim bool
	// LetGo removes the finalizer of a local volume and leaves the data.
	LetGo bool
}

// DecideVolume decides about a volume.
func DecideVolume(o VolumeObservation) VolumeDecision {
	v, ref := o.Volume, o.Volume.Spec.ClaimRef
	switch {
	case ref == nil || ref.UID == "":
		return o.keep(corev1.VolumeAvailable)
	case o.Claim == nil:
		return o.gone()
	case o.Claim.Spec.VolumeName == v.Name:
		return VolumeDecision{Phase: corev1.VolumeBound}
	case o.Claim.Spec.VolumeName == "" && v.DeletionTimestamp == nil:
		return VolumeDecision{} // The claim is being bound.
	case isFor(v, o.Claim):
		return o.reclaim() // It was never used: the claim has another volume, or waits for a new one.
	}
	return VolumeDecision{Unbind: true, Phase: corev1.VolumeAvailable}
}

// gone decides about a volume whose claim does not exist any more.
func (o *VolumeObservation) gone() VolumeDecision {
	if o.neverUsed() {
		return VolumeDecision{Unbind: true, Phase: corev1.VolumeAvailable}
	}
	return o.reclaim()
}

// neverUsed reports whether the controller has chosen the volume for a claim that was gone before it was bound: the phase
// Bound is stored before the claim is.
func (o *VolumeObservation) neverUsed() bool {
	phase := o.Volume.Status.Phase
	return metav1.HasAnnotation(o.Volume.ObjectMeta, storagevolume.AnnBoundByController) &&
		(phase == corev1.VolumeAvailable || phase == corev1.VolumePending || phase == "")
}

// reclaim decides by the reclaim policy. Only directories that this server has made are ever removed.
func (o *VolumeObservation) reclaim() VolumeDecision {
	v := o.Volume
	policy := v.Spec.PersistentVolumeReclaimPolicy
	switch {
	case policy == corev1.PersistentVolumeReclaimRetain || policy == "":
		return o.keep(corev1.VolumeReleased)
	case policy == corev1.PersistentVolumeReclaimDelete && IsLocal(v):
		return VolumeDecision{Phase: o.releasedOrFailed(), Reason: v.Status.Reason, Message: v.Status.Message, Reclaim: o.CanRemove}
	case policy == corev1.PersistentVolumeReclaimDelete && metav1.HasAnnotation(v.ObjectMeta, storagevolume.AnnDynamicallyProvisioned):
		return o.keep(corev1.VolumeReleased) // The program that made it removes it.
	}
	return FailedDelete(fmt.Sprintf("no deleter for this kind of volume: its data stays; delete the volume, or set its policy %s to Retain", policy))
}

// releasedOrFailed keeps the phase Failed until the removal succeeds.
func (o *VolumeObservation) releasedOrFailed() corev1.PersistentVolumePhase {
	if o.Volume.Status.Phase == corev1.VolumeFailed {
		return corev1.VolumeFailed
	}
	return corev1.VolumeReleased
}

// keep leaves the data where it is, and a volume that is being deleted goes.
func (o *VolumeObservation) keep(phase corev1.PersistentVolumePhase) VolumeDecision {
	v := o.Volume
	return VolumeDecision{Phase: phase, LetGo: v.DeletionTimestamp != nil && slices.Contains(v.Finalizers, LocalVolumeFinalizer)}
}

// FailedDelete is the decision about a volume that could not be removed.
func FailedDelete(why string) VolumeDecision {
	const reason = "VolumeFailedDelete"
	return VolumeDecision{Phase: corev1.VolumeFailed, Reason: reason, Message: why, Event: warning(reason, why)}
}

// Changes reports whether there is anything to do for a volume.
func (d VolumeDecision) Changes(v *corev1.PersistentVolume) bool {
	return d.Unbind || d.Reclaim || d.LetGo || d.changesStatus(v)
}

func (d VolumeDecision) changesStatus(v *corev1.PersistentVolume) bool {
	return d.Phase != "" && (d.Phase != v.Status.Phase || d.Reason != v.Status.Reason || d.Message != v.Status.Message)
}

// Store stores the phase in the status, and reports whether that changed it.
func (d VolumeDecision) Store(v *corev1.PersistentVolume) (changed bool) {
	changed = d.changesStatus(v)
	if changed {
		v.Status.Phase, v.Status.Reason, v.Status.Message = d.Phase, d.Reason, d.Message
	}
	return changed
}
