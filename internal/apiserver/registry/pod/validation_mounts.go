package pod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// validateMounts validates a container's volumeMounts.
func validateMounts(c container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	volumes, taken := sets.New[string](), sets.New[string]()
	for _, d := range c.VolumeDevices {
		volumes.Insert(d.Name)
		taken.Insert(d.DevicePath)
	}
	paths := sets.New[string]()
	for i := range c.VolumeMounts {
		m, at := &c.VolumeMounts[i], p.Index(i)
		errs = append(errs, validateVolumeRef(c, m.Name, at.Child("name"))...)
		errs = append(errs, uniquePath(m.MountPath, paths, at.Child("mountPath"))...)
		if volumes.Has(m.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), m.Name, "must not already exist in volumeDevices"))
		}
		if taken.Has(m.MountPath) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must not already exist as a path in volumeDevices"))
		}
		errs = append(errs, validateMount(c, m, at)...)
	}
	return errs
}

// validateDevices validates a container's volumeDevices, which are block devices.
func validateDevices(c container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	mounted, taken := sets.New[string](), sets.New[string]()
	for _, m := range c.VolumeMounts {
		mounted.Insert(m.Name)
		taken.Insert(m.MountPath)
	}
	names, paths := sets.New[string](), sets.New[string]()
	for i, d := range c.VolumeDevices {
		name, path := p.Index(i).Child("name"), p.Index(i).Child("devicePath")
		errs = append(errs, validateVolumeRef(c, d.Name, name)...)
		if v := c.volumes[d.Name]; v != nil && v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
			errs = append(errs, field.Invalid(name, d.Name, "must be a volume of type persistentVolumeClaim or ephemeral"))
		}
		if names.Has(d.Name) {
			errs = append(errs, field.Invalid(name, d.Name, "must be unique"))
		}
		names.Insert(d.Name)
		if mounted.Has(d.Name) {
			errs = append(errs, field.Invalid(name, d.Name, "must not already exist in volumeMounts"))
		}
		errs = append(errs, uniquePath(d.DevicePath, paths, path)...)
		errs = append(errs, validateNoDotDot(d.DevicePath, path)...)
		if taken.Has(d.DevicePath) {
			errs = append(errs, field.Invalid(path, d.DevicePath, "must not already exist as a path in volumeMounts"))
		}
	}
	return errs
}

func validateVolumeRef(c container, name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	if _, ok := c.volumes[name]; !ok {
		return field.ErrorList{noSuchVolume(name, p)}
	}
	return nil
}

func noSuchVolume(name string, p *field.Path) *field.Error {
	missing := field.NotFound(p, name)
	missing.Detail = "the pod has no volume of this name"
	return missing
}

func uniquePath(path string, seen sets.Set[string], p *field.Path) field.ErrorList {
	if path == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	if seen.Has(path) {
		return field.ErrorList{field.Invalid(p, path, "must be unique")}
	}
	seen.Insert(path)
	return nil
}

func validateMount(c container, m *corev1.VolumeMount, p *field.Path) field.ErrorList {
	errs := validateInside(m.SubPath, p.Child("subPath"))
	errs = append(errs, validateInside(m.SubPathExpr, p.Child("subPathExpr"))...)
	if m.SubPath != "" && m.SubPathExpr != "" {
		errs = append(errs, field.Invalid(p.Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
	}
	if m.MountPropagation != nil {
		errs = append(errs, check.Supported(*m.MountPropagation, p.Child("mountPropagation"),
			corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)...)
		if *m.MountPropagation == corev1.MountPropagationBidirectional && !privileged(c) {
			errs = append(errs, field.Forbidden(p.Child("mountPropagation"), "Bidirectional mount propagation is available only to privileged containers"))
		}
	}
	return append(errs, validateRecursiveReadOnly(m, p)...)
}

func validateRecursiveReadOnly(m *corev1.VolumeMount, p *field.Path) field.ErrorList {
	if ptr.Deref(m.RecursiveReadOnly, corev1.RecursiveReadOnlyDisabled) == corev1.RecursiveReadOnlyDisabled {
		return nil
	}
	at := p.Child("recursiveReadOnly")
	errs := check.Supported(*m.RecursiveReadOnly, at,
		corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyIfPossible, corev1.RecursiveReadOnlyEnabled)
	if len(errs) > 0 {
		return errs
	}
	if !m.ReadOnly {
		errs = append(errs, field.Forbidden(at, "may only be specified when readOnly is true"))
	}
	if ptr.Deref(m.MountPropagation, corev1.MountPropagationNone) != corev1.MountPropagationNone {
		errs = append(errs, field.Forbidden(at, "may only be specified when mountPropagation is None or not specified"))
	}
	return errs
}

func privileged(c container) bool {
	return c.SecurityContext != nil && ptr.Deref(c.SecurityContext.Privileged, false)
}
