package registry

import (
	"fmt"
	"iter"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateVolumes also returns the volumes by name, for the mounts to refer to.
func validateVolumes(volumes []corev1.Volume, p *field.Path) (map[string]*corev1.Volume, field.ErrorList) {
	var errs field.ErrorList
	names := sets.New[string]()
	byName := make(map[string]*corev1.Volume, len(volumes))
	for i := range volumes {
		v, at := &volumes[i], p.Index(i)
		errs = append(errs, uniqueLabel(v.Name, names, at.Child("name"))...)
		errs = append(errs, validateVolume(v, at)...)
		byName[v.Name] = v
	}
	return byName, errs
}

func validateVolume(v *corev1.Volume, p *field.Path) field.ErrorList {
	kinds := volumeKinds(&v.VolumeSource)
	switch {
	case len(kinds) == 0:
		return field.ErrorList{field.Required(p, "must specify a volume type")}
	case len(kinds) > 1:
		return field.ErrorList{field.Forbidden(p.Child(kinds[1]), "may not specify more than 1 volume type")}
	}
	var errs field.ErrorList
	switch {
	case v.EmptyDir != nil && v.EmptyDir.SizeLimit != nil && v.EmptyDir.SizeLimit.Sign() < 0:
		errs = append(errs, field.Invalid(p.Child("emptyDir", "sizeLimit"), v.EmptyDir.SizeLimit.String(), "must be greater than or equal to 0"))
	case v.HostPath != nil:
		errs = validateHostPath(v.HostPath, p.Child("hostPath"))
	case v.Secret != nil:
		errs = append(requireName(v.Secret.SecretName, p.Child("secret", "secretName")), validateMode(v.Secret.DefaultMode, p.Child("secret", "defaultMode"))...)
	case v.ConfigMap != nil:
		errs = append(requireName(v.ConfigMap.Name, p.Child("configMap", "name")), validateMode(v.ConfigMap.DefaultMode, p.Child("configMap", "defaultMode"))...)
	case v.DownwardAPI != nil:
		errs = validateMode(v.DownwardAPI.DefaultMode, p.Child("downwardAPI", "defaultMode"))
	case v.Projected != nil:
		errs = validateProjected(v.Projected, p.Child("projected"))
	case v.PersistentVolumeClaim != nil:
		errs = requireName(v.PersistentVolumeClaim.ClaimName, p.Child("persistentVolumeClaim", "claimName"))
	}
	return append(errs, validateItems(v, p)...)
}

func requireName(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	return nil
}

func validateHostPath(h *corev1.HostPathVolumeSource, p *field.Path) field.ErrorList {
	if h.Path == "" {
		return field.ErrorList{field.Required(p.Child("path"), "must be set")}
	}
	var errs field.ErrorList
	if climbs(h.Path) {
		errs = append(errs, field.Invalid(p.Child("path"), h.Path, "must not contain '..'"))
	}
	if h.Type == nil || *h.Type == corev1.HostPathUnset {
		return errs
	}
	return append(errs, among(*h.Type, p.Child("type"), corev1.HostPathDirectoryOrCreate, corev1.HostPathDirectory,
		corev1.HostPathFileOrCreate, corev1.HostPathFile, corev1.HostPathSocket, corev1.HostPathCharDev, corev1.HostPathBlockDev)...)
}

// climbs tells whether a path has an element that leads out of its folder.
func climbs(path string) bool {
	for element := range strings.SplitSeq(path, "/") {
		if element == ".." {
			return true
		}
	}
	return false
}

func validateMode(mode *int32, p *field.Path) field.ErrorList {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		return field.ErrorList{field.Invalid(p, *mode, "must be a number between 0 and 0777 (octal), both inclusive")}
	}
	return nil
}

// validateFilePath wants a path inside the volume.
func validateFilePath(path string, p *field.Path) field.ErrorList {
	if path == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	if strings.HasPrefix(path, "..") && !climbs(path) {
		return field.ErrorList{field.Invalid(p, path, "must not start with '..'")}
	}
	return validateInside(path, p)
}

// validateInside wants a path that does not lead out of where it starts.
func validateInside(path string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if strings.HasPrefix(path, "/") {
		errs = append(errs, field.Invalid(p, path, "must be a relative path"))
	}
	if climbs(path) {
		errs = append(errs, field.Invalid(p, path, "must not contain '..'"))
	}
	return errs
}

// keyItems goes through the lists of keys that become files of a volume.
func keyItems(v *corev1.Volume, p *field.Path) iter.Seq2[*field.Path, []corev1.KeyToPath] {
	return func(yield func(*field.Path, []corev1.KeyToPath) bool) {
		switch {
		case v.ConfigMap != nil:
			yield(p.Child("configMap", "items"), v.ConfigMap.Items)
		case v.Secret != nil:
			yield(p.Child("secret", "items"), v.Secret.Items)
		case v.Projected != nil:
			for i, s := range v.Projected.Sources {
				at := p.Child("projected", "sources").Index(i)
				if s.ConfigMap != nil && !yield(at.Child("configMap", "items"), s.ConfigMap.Items) {
					return
				}
				if s.Secret != nil && !yield(at.Child("secret", "items"), s.Secret.Items) {
					return
				}
			}
		}
	}
}

// downwardItems goes through the lists of the pod's fields that become files of a volume.
func downwardItems(v *corev1.Volume, p *field.Path) iter.Seq2[*field.Path, []corev1.DownwardAPIVolumeFile] {
	return func(yield func(*field.Path, []corev1.DownwardAPIVolumeFile) bool) {
		switch {
		case v.DownwardAPI != nil:
			yield(p.Child("downwardAPI", "items"), v.DownwardAPI.Items)
		case v.Projected != nil:
			for i, s := range v.Projected.Sources {
				if s.DownwardAPI != nil && !yield(p.Child("projected", "sources").Index(i).Child("downwardAPI", "items"), s.DownwardAPI.Items) {
					return
				}
			}
		}
	}
}

// validateItems judges the files of a volume, and that no two get the same path.
func validateItems(v *corev1.Volume, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := sets.New[string]()
	unique := func(path string, at *field.Path) {
		if v.Projected != nil && path != "" && taken.Has(path) {
			errs = append(errs, field.Invalid(at, path, "conflicting duplicate paths"))
		}
		taken.Insert(path)
	}
	for at, items := range keyItems(v, p) {
		for i, item := range items {
			errs = append(errs, requireName(item.Key, at.Index(i).Child("key"))...)
			errs = append(errs, validateFilePath(item.Path, at.Index(i).Child("path"))...)
			errs = append(errs, validateMode(item.Mode, at.Index(i).Child("mode"))...)
			unique(item.Path, at.Index(i).Child("path"))
		}
	}
	for at, files := range downwardItems(v, p) {
		for i := range files {
			errs = append(errs, validateDownwardFile(&files[i], at.Index(i))...)
			unique(files[i].Path, at.Index(i).Child("path"))
		}
	}
	return errs
}

func validateDownwardFile(f *corev1.DownwardAPIVolumeFile, p *field.Path) field.ErrorList {
	errs := validateFilePath(f.Path, p.Child("path"))
	errs = append(errs, validateMode(f.Mode, p.Child("mode"))...)
	switch {
	case f.FieldRef != nil && f.ResourceFieldRef != nil:
		errs = append(errs, field.Invalid(p, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
	case f.FieldRef != nil:
		errs = append(errs, validateFieldRef(f.FieldRef, volumeFields, p.Child("fieldRef"))...)
	case f.ResourceFieldRef != nil:
		errs = append(errs, requireName(f.ResourceFieldRef.ContainerName, p.Child("resourceFieldRef", "containerName"))...)
		errs = append(errs, validateResourceFieldRef(f.ResourceFieldRef, p.Child("resourceFieldRef"))...)
	default:
		errs = append(errs, field.Required(p, "one of fieldRef and resourceFieldRef is required"))
	}
	return errs
}

func validateProjected(v *corev1.ProjectedVolumeSource, p *field.Path) field.ErrorList {
	errs := validateMode(v.DefaultMode, p.Child("defaultMode"))
	for i := range v.Sources {
		errs = append(errs, validateProjection(&v.Sources[i], p.Child("sources").Index(i))...)
	}
	return errs
}

func validateProjection(s *corev1.VolumeProjection, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	var kinds []string
	if s.Secret != nil {
		kinds = append(kinds, "secret")
		errs = append(errs, requireName(s.Secret.Name, p.Child("secret", "name"))...)
	}
	if s.ConfigMap != nil {
		kinds = append(kinds, "configMap")
		errs = append(errs, requireName(s.ConfigMap.Name, p.Child("configMap", "name"))...)
	}
	if s.DownwardAPI != nil {
		kinds = append(kinds, "downwardAPI")
	}
	if t := s.ServiceAccountToken; t != nil {
		kinds = append(kinds, "serviceAccountToken")
		errs = append(errs, validateFilePath(t.Path, p.Child("serviceAccountToken", "path"))...)
	}
	if s.ClusterTrustBundle != nil {
		kinds = append(kinds, "clusterTrustBundle")
	}
	if s.PodCertificate != nil {
		kinds = append(kinds, "podCertificate")
	}
	switch {
	case len(kinds) == 0:
		errs = append(errs, field.Required(p, "must specify a source"))
	case len(kinds) > 1:
		errs = append(errs, field.Forbidden(p, fmt.Sprintf("may not specify more than 1 volume type per source, has %s", strings.Join(kinds, " and "))))
	}
	return errs
}
