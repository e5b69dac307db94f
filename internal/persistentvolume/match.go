package persistentvolume

import (
	corev1 "k8s.io/api/core/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"
)

// isFree reports whether a volume names no claim.
func isFree(v *corev1.PersistentVolume) bool { return v.Spec.ClaimRef == nil }

// IsAvailable reports whether any claim may be bound to the volume.
func IsAvailable(v *corev1.PersistentVolume) bool {
	return isFree(v) && v.Status.Phase == corev1.VolumeAvailable && v.DeletionTimestamp == nil
}

// mismatch returns why a volume cannot be bound to a claim that names it, or "".
func mismatch(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) string {
	has, wants := v.Spec.Capacity[corev1.ResourceStorage], c.Spec.Resources.Requests[corev1.ResourceStorage]
	switch {
	case has.Cmp(wants) < 0:
		return "requested PV is too small"
	case storagevolume.GetPersistentVolumeClass(v) != storagevolume.GetPersistentVolumeClaimClass(c):
		return "storageClassName does not match"
	case storagevolume.CheckVolumeModeMismatches(&c.Spec, &v.Spec):
		return "incompatible volumeMode"
	case !storagevolume.CheckAccessModes(c, v):
		return "incompatible accessMode"
	}
	return ""
}
