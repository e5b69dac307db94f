package registry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// validateMounts judges a container's volumeMounts and volumeDevices: both refer to volumes of the pod.
func validateMounts(c container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	paths, devices := sets.New[string](), sets.New[string]()
	for i := range c.VolumeMounts {
		m, at := &c.VolumeMounts[i], p.Child("volumeMounts").Index(i)
		errs = append(errs, validateVolumeRef(c, m.Name, at.Child("name"))...)
		errs = append(errs, uniquePath(m.MountPath, paths, at.Child("mountPath"))...)
		errs = append(errs, validateMount(c, m, at)...)
	}
	for i := range c.VolumeDevices {
		d, at := &c.VolumeDevices[i], p.Child("volumeDevices").Index(i)
		errs = append(errs, validateVolumeRef(c, d.Name, at.Child("name"))...)
		errs = append(errs, uniquePath(d.DevicePath, devices, at.Child("devicePath"))...)
		if paths.Has(d.DevicePath) {
			errs = append(errs, field.Invalid(at.Child("devicePath"), d.DevicePath, "must not already exist as a path in volumeMounts"))
		}
	}
	return errs
}

func validateVolumeRef(c container, name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	if _, ok := c.volumes[name]; !ok {
		missing := field.NotFound(p, name)
		missing.Detail = "the pod has no volume of this name"
		return field.ErrorList{missing}
	}
	return nil
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
		errs = append(errs, among(*m.MountPropagation, p.Child("mountPropagation"),
			corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)...)
		if *m.MountPropagation == corev1.MountPropagationBidirectional && !privileged(c) {
			errs = append(errs, field.Forbidden(p.Child("mountPropagation"), "Bidirectional mount propagation is available only to privileged containers"))
		}
	}
	return append(errs, validateRecursiveReadOnly(m, p)...)
}

func validateRecursiveReadOnly(m *corev1.VolumeMount, p *field.Path) field.ErrorList {
	if m.RecursiveReadOnly == nil {
		return nil
	}
	at := p.Child("recursiveReadOnly")
	errs := among(*m.RecursiveReadOnly, at,
		corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyIfPossible, corev1.RecursiveReadOnlyEnabled)
	if *m.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
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
