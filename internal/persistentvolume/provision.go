package persistentvolume

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"
)

// VolumeName is the name of the volume that is provisioned for a claim.
func VolumeName(c *corev1.PersistentVolumeClaim) string { return "pvc-" + string(c.UID) }

// IsLocal reports whether a volume was provisioned as a directory below the data directory.
func IsLocal(v *corev1.PersistentVolume) bool {
	return v.Annotations[storagevolume.AnnDynamicallyProvisioned] == Provisioner && v.Spec.Local != nil
}

// isFor reports whether the volume was provisioned for this claim.
func isFor(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	return IsLocal(v) && v.Name == VolumeName(c)
}

// IsUnfinished reports whether the volume was provisioned for this claim, which has not been bound to it yet: its directory
// may be missing, and nothing has used it.
func IsUnfinished(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	return isFor(v, c) && !IsBound(c)
}

// Place is where a volume is provisioned.
type Place struct {
	Path, Node string
}

// NewVolume returns the volume that is provisioned for a claim of this class.
func NewVolume(c *corev1.PersistentVolumeClaim, class Class, at Place) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        VolumeName(c),
			Annotations: map[string]string{storagevolume.AnnDynamicallyProvisioned: Provisioner},
			Finalizers:  []string{VolumeProtection, LocalVolumeFinalizer},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: c.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   c.Spec.AccessModes,
			VolumeMode:                    ptr.To(corev1.PersistentVolumeFilesystem),
			StorageClassName:              class.Name,
			PersistentVolumeReclaimPolicy: class.reclaimPolicy(),
			VolumeAttributesClassName:     c.Spec.VolumeAttributesClassName,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: at.Path}},
			NodeAffinity:                  onNode(at.Node),
			ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1",
				Namespace: c.Namespace, Name: c.Name, UID: c.UID, ResourceVersion: c.ResourceVersion},
		},
	}
}

func onNode(name string) *corev1.VolumeNodeAffinity {
	host := corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{name}}
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{host}}}}}
}
