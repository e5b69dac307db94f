package persistentvolume

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	core "github.com/stint-dev/stint/internal/persistentvolume"
)

func warnVolume(pv *corev1.PersistentVolume) []string {
	p := field.NewPath("spec")
	warnings := warnAnnotation(pv, corev1.BetaStorageClassAnnotation, "spec.storageClassName")
	warnings = append(warnings, warnAnnotation(pv, corev1.MountOptionAnnotation, "spec.mountOptions")...)
	if pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		warnings = append(warnings, fmt.Sprintf("%s: Recycle is deprecated: have volumes provisioned by a StorageClass", p.Child("persistentVolumeReclaimPolicy")))
	}
	if a := pv.Spec.NodeAffinity; a != nil && a.Required != nil {
		warnings = append(warnings, pod.WarnNodeSelector(a.Required, p.Child("nodeAffinity", "required"))...)
	}
	if like, err := likeOfPod(&pv.Spec.PersistentVolumeSource); err == nil {
		warnings = append(warnings, pod.WarnRemovedVolume(like, p, "csi")...)
	}
	return warnings
}

func warnClaim(c *corev1.PersistentVolumeClaim) []string {
	return append(warnAnnotation(c, corev1.BetaStorageClassAnnotation, "spec.storageClassName"),
		pod.WarnFractionsOfStorage(&c.Spec, field.NewPath("spec"))...)
}

// warnAnnotation warns about an annotation that has become a field.
func warnAnnotation(obj metav1.Object, name, instead string) []string {
	if _, set := obj.GetAnnotations()[name]; !set {
		return nil
	}
	return []string{fmt.Sprintf("%s: deprecated: use %s instead", field.NewPath("metadata", "annotations").Key(name), instead)}
}

// warnClass warns about a class whose claims nothing here would serve.
func warnClass(c *storagev1.StorageClass, o pod.Options) []string {
	if o.Node == nil || c.Provisioner == core.Provisioner || o.LocalStorageClasses.Has(c.Name) {
		return nil
	}
	return []string{fmt.Sprintf("provisioner: %s does not run here, so claims of this class wait for volumes that users create for them: "+
		"start the server with --local-storage-classes %s to have directories of this machine provisioned for them", c.Provisioner, c.Name)}
}
