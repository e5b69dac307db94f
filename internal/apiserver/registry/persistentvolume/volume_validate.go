package persistentvolume

import (
	"maps"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

func validateVolume(pv *corev1.PersistentVolume) field.ErrorList {
	s, p := &pv.Spec, field.NewPath("spec")
	errs := validateMountOptions(pv)
	errs = append(errs, pod.ValidateAccessModes(s.AccessModes, p.Child("accessModes"))...)
	errs = append(errs, validateCapacity(s.Capacity, p.Child("capacity"))...)
	errs = append(errs, validateReclaimPolicy(s, p.Child("persistentVolumeReclaimPolicy"))...)
	errs = append(errs, validateNodeAffinity(s.NodeAffinity, p.Child("nodeAffinity"))...)
	errs = append(errs, validateSource(s, p)...)
	if s.StorageClassName != "" {
		errs = append(errs, check.Subdomain(s.StorageClassName, p.Child("storageClassName"))...)
	}
	errs = append(errs, validateVolumeMode(s.VolumeMode, p.Child("volumeMode"))...)
	return append(errs, validateAttributes(s, p)...)
}

func validateAttributes(s *corev1.PersistentVolumeSpec, p *field.Path) field.ErrorList {
	class, at := s.VolumeAttributesClassName, p.Child("volumeAttributesClassName")
	var errs field.ErrorList
	switch {
	case class == nil:
		return nil
	case *class == "":
		errs = append(errs, field.Required(at, "must be set, or left out"))
	default:
		errs = append(errs, check.Subdomain(*class, at)...)
	}
	if s.CSI == nil {
		errs = append(errs, field.Required(p.Child("csi"), "has to be specified when using volumeAttributesClassName"))
	}
	return errs
}

func validateCapacity(list corev1.ResourceList, p *field.Path) field.ErrorList {
	if len(list) == 0 {
		return field.ErrorList{field.Required(p, "set storage to the size of the volume")}
	}
	var errs field.ErrorList
	if _, set := list[corev1.ResourceStorage]; !set || len(list) > 1 {
		errs = append(errs, field.NotSupported(p, slices.Sorted(maps.Keys(list)), []string{string(corev1.ResourceStorage)}))
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if size := list[name]; size.Sign() <= 0 {
			errs = append(errs, field.Invalid(p.Key(string(name)), size.String(), "must be greater than zero"))
		}
	}
	return errs
}

func validateReclaimPolicy(s *corev1.PersistentVolumeSpec, p *field.Path) field.ErrorList {
	errs := check.Supported(s.PersistentVolumeReclaimPolicy, p,
		corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain)
	if s.HostPath != nil && path.Clean(s.HostPath.Path) == "/" && s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		errs = append(errs, field.Forbidden(p, "may not be 'Recycle' for a hostPath of '/'"))
	}
	return errs
}

func validateNodeAffinity(a *corev1.VolumeNodeAffinity, p *field.Path) field.ErrorList {
	switch {
	case a == nil:
		return nil
	case a.Required == nil:
		return field.ErrorList{field.Required(p.Child("required"), "must specify required node constraints")}
	}
	return pod.ValidateNodeSelector(a.Required, p.Child("required"))
}

func validateVolumeMode(mode *corev1.PersistentVolumeMode, p *field.Path) field.ErrorList {
	if mode == nil {
		return field.ErrorList{field.Required(p, "must be Filesystem or Block")}
	}
	return check.Supported(*mode, p, corev1.PersistentVolumeFilesystem, corev1.PersistentVolumeBlock)
}

// validateMountOptions refuses options, in an annotation of old, for volumes that are not mounted with any.
func validateMountOptions(pv *corev1.PersistentVolume) field.ErrorList {
	_, set := pv.Annotations[corev1.MountOptionAnnotation]
	if s := &pv.Spec; !set || s.HostPath == nil && s.Local == nil && s.FC == nil && s.FlexVolume == nil && s.CSI == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("metadata", "annotations", corev1.MountOptionAnnotation), "may not be set for this kind of volume")}
}
