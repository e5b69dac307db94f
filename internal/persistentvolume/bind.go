package persistentvolume

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"
)

// ErrTaken means that a volume or a claim has been bound otherwise in the meantime, or is being deleted.
var ErrTaken = errors.New("it is bound to another object or being deleted")

// BindVolume makes the volume name the claim, and reports whether that changed it.
func BindVolume(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) (changed bool, err error) {
	if !isFree(v) && !storagevolume.IsVolumeBoundToClaim(v, c) || v.DeletionTimestamp != nil && !IsBound(c) {
		return false, ErrTaken
	}
	bound, changed, err := storagevolume.GetBindVolumeToClaim(v, c)
	if changed {
		bound.DeepCopyInto(v)
	}
	return changed, err
}

// BindClaim makes the claim name the volume, and reports whether that changed it.
func BindClaim(c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) (changed bool, err error) {
	switch c.Spec.VolumeName {
	case v.Name:
		if IsBound(c) {
			return false, nil
		}
	case "":
		if IsBound(c) || c.DeletionTimestamp != nil {
			return false, ErrTaken
		}
		c.Spec.VolumeName = v.Name
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, storagevolume.AnnBoundByController, "yes")
	default:
		return false, ErrTaken
	}
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, storagevolume.AnnBindCompleted, "yes")
	if by := v.Annotations[storagevolume.AnnDynamicallyProvisioned]; by != "" {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, storagevolume.AnnStorageProvisioner, by)
	}
	return true, nil
}

// UnbindVolume takes a claim off the volume: the whole reference if this controller has made it, else only the UID, as the
// user who made it still wants a claim of this name.
func UnbindVolume(v *corev1.PersistentVolume) {
	if !metav1.HasAnnotation(v.ObjectMeta, storagevolume.AnnBoundByController) {
		v.Spec.ClaimRef.UID = ""
		return
	}
	delete(v.Annotations, storagevolume.AnnBoundByController)
	v.Spec.ClaimRef = nil
}

// ClaimStatus returns the status of a claim in this phase. Only one that is bound has a volume.
func ClaimStatus(c *corev1.PersistentVolumeClaim, phase corev1.PersistentVolumeClaimPhase, v *corev1.PersistentVolume) corev1.PersistentVolumeClaimStatus {
	s := c.Status.DeepCopy()
	was := s.Phase
	s.Phase = phase
	if v == nil {
		s.AccessModes, s.Capacity = nil, nil
		return *s
	}
	s.AccessModes = v.Spec.AccessModes
	if was != corev1.ClaimBound {
		s.Capacity = corev1.ResourceList{corev1.ResourceStorage: v.Spec.Capacity[corev1.ResourceStorage]}
	}
	return *s
}
