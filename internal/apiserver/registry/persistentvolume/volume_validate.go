package persistentvolume

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

func validateVolume(s *corev1.PersistentVolumeSpec) field.ErrorList {
	p := field.NewPath("spec")
	errs := pod.ValidateAccessModes(s.AccessModes, p.Child("accessModes"))
	errs = append(errs, validateCapacity(s.Capacity, p.Child("capacity"))...)
	errs = append(errs, validateReclaimPolicy(s, p.Child("persistentVolumeReclaimPolicy"))...)
	errs = append(errs, validateNodeAffinity(s.NodeAffinity, p.Child("nodeAffinity"))...)
	errs = append(errs, validateSource(s, p)...)
	if s.StorageClassName != "" {
		errs = append(errs, check.Subdomain(s.StorageClassName, p.Child("storageClassName"))...)
	}
	errs = append(errs, validateVolumeMode(s.VolumeMode, p.Child("volumeMode"))...)
	if class := s.VolumeAttributesClassName; class != nil {
		at := p.Child("volumeAttributesClassName")
		errs = append(errs, check.Subdomain(*class, at)...)
		if s.CSI == nil {
			errs = append(errs, field.Required(p.Child("csi"), "has to be specified when using volumeAttributesClassName"))
		}
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
	if s.HostPath != nil && s.HostPath.Path == "/" && s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
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

// validateSource validates the kind of volume: exactly one is set.
func validateSource(s *corev1.PersistentVolumeSpec, p *field.Path) field.ErrorList {
	switch {
	case s.Local != nil:
		errs := validateLocal(s.Local, p.Child("local"))
		if s.NodeAffinity == nil {
			errs = append(errs, field.Required(p.Child("nodeAffinity"), "Local volume requires node affinity"))
		}
		return append(errs, onlySource(s, "local", p)...)
	case s.CSI != nil:
		return append(validateCSI(s.CSI, p.Child("csi")), onlySource(s, "csi", p)...)
	}
	like, err := likeOfPod(&s.PersistentVolumeSource)
	if err != nil {
		return field.ErrorList{field.InternalError(p, err)}
	}
	return pod.ValidateVolumeSource(like, p)
}

// likeOfPod returns the same kind of volume for a pod. Its fields have the same names.
func likeOfPod(s *corev1.PersistentVolumeSource) (*corev1.VolumeSource, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	like := &corev1.VolumeSource{}
	return like, json.Unmarshal(text, like)
}

func onlySource(s *corev1.PersistentVolumeSpec, this string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, kind := range sourcesOf(&s.PersistentVolumeSource) {
		if kind != this {
			errs = append(errs, field.Forbidden(p.Child(kind), "may not specify more than 1 volume type"))
		}
	}
	return errs
}

func validateLocal(v *corev1.LocalVolumeSource, p *field.Path) field.ErrorList {
	switch {
	case v.Path == "":
		return field.ErrorList{field.Required(p.Child("path"), "must be set")}
	case slices.Contains(strings.Split(v.Path, "/"), ".."):
		return field.ErrorList{field.Invalid(p.Child("path"), v.Path, "must not contain '..'")}
	}
	return nil
}

const maxDriverName = 63

func validateCSI(v *corev1.CSIPersistentVolumeSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch driver := p.Child("driver"); {
	case v.Driver == "":
		errs = append(errs, field.Required(driver, "must be set"))
	case len(v.Driver) > maxDriverName:
		errs = append(errs, field.TooLong(driver, "", maxDriverName))
	default:
		errs = append(errs, check.Invalid(driver, v.Driver, validation.IsDNS1123Subdomain(strings.ToLower(v.Driver)))...)
	}
	if v.VolumeHandle == "" {
		errs = append(errs, field.Required(p.Child("volumeHandle"), "must be set"))
	}
	return errs
}

func validateVolumeUpdate(s, was *corev1.PersistentVolumeSpec) field.ErrorList {
	p := field.NewPath("spec")
	errs := validateVolume(s)
	if !apiequality.Semantic.DeepEqual(s.PersistentVolumeSource, was.PersistentVolumeSource) {
		errs = append(errs, field.Forbidden(p.Child("persistentvolumesource"),
			"the kind of volume and its settings are immutable: delete the volume and create it anew"))
	}
	errs = append(errs, apivalidation.ValidateImmutableField(ptr.Deref(s.VolumeMode, ""), ptr.Deref(was.VolumeMode, ""), p.Child("volumeMode"))...)
	if was.NodeAffinity != nil {
		errs = append(errs, apivalidation.ValidateImmutableField(s.NodeAffinity, was.NodeAffinity, p.Child("nodeAffinity"))...)
	}
	return errs
}
