package pod

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// removedVolumes are the kinds of volumes that Kubernetes no longer supports.
var removedVolumes = []struct {
	field string
	isSet func(*corev1.VolumeSource) bool
}{
	{"photonPersistentDisk", func(s *corev1.VolumeSource) bool { return s.PhotonPersistentDisk != nil }},
	{"gitRepo", func(s *corev1.VolumeSource) bool { return s.GitRepo != nil }},
	{"scaleIO", func(s *corev1.VolumeSource) bool { return s.ScaleIO != nil }},
	{"flocker", func(s *corev1.VolumeSource) bool { return s.Flocker != nil }},
	{"storageos", func(s *corev1.VolumeSource) bool { return s.StorageOS != nil }},
	{"quobyte", func(s *corev1.VolumeSource) bool { return s.Quobyte != nil }},
	{"glusterfs", func(s *corev1.VolumeSource) bool { return s.Glusterfs != nil }},
	{"cephfs", func(s *corev1.VolumeSource) bool { return s.CephFS != nil }},
	{"rbd", func(s *corev1.VolumeSource) bool { return s.RBD != nil }},
}

func warnVolumes(volumes []corev1.Volume, p *field.Path) []string {
	var warnings []string
	for i := range volumes {
		v := &volumes[i]
		warnings = append(warnings, WarnRemovedVolume(&v.VolumeSource, p.Index(i), "csi or persistentVolumeClaim")...)
		if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
			warnings = append(warnings, WarnFractionsOfStorage(&v.Ephemeral.VolumeClaimTemplate.Spec, p.Index(i).Child("ephemeral", "volumeClaimTemplate", "spec"))...)
		}
		warnings = append(warnings, warnOverlaps(v)...)
	}
	return warnings
}

// WarnRemovedVolume warns about a kind of volume that Kubernetes no longer supports.
func WarnRemovedVolume(s *corev1.VolumeSource, p *field.Path, instead string) []string {
	var warnings []string
	for _, gone := range removedVolumes {
		if gone.isSet(s) {
			warnings = append(warnings, fmt.Sprintf("%s: deprecated and no longer supported: use a volume of type %s", p.Child(gone.field), instead))
		}
	}
	return warnings
}

// WarnFractionsOfStorage warns about a claim of a fraction of a byte, such as "100m" instead of "100Mi".
func WarnFractionsOfStorage(s *corev1.PersistentVolumeClaimSpec, p *field.Path) []string {
	var warnings []string
	for _, list := range []struct {
		name      string
		resources corev1.ResourceList
	}{{"requests", s.Resources.Requests}, {"limits", s.Resources.Limits}} {
		if size, set := list.resources[corev1.ResourceStorage]; set && !whole(size) {
			warnings = append(warnings, fmt.Sprintf("%s: is a fraction of a byte: use a whole number, with a suffix such as Gi",
				p.Child("resources", list.name).Key(string(corev1.ResourceStorage))))
		}
	}
	return warnings
}

// file is a file of a volume. of is its source, if the volume has several.
type file struct{ path, of string }

func (f file) String() string {
	if f.of == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.of)
}

// overlaps reports whether two files have the same path, or the path of one is a directory in that of the other.
func (f file) overlaps(other file) bool {
	a, b := f.path+"/", other.path+"/"
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// warnOverlaps warns about files of a volume whose paths overlap.
func warnOverlaps(v *corev1.Volume) []string {
	switch {
	case v.ConfigMap != nil:
		return overlapsAmong(keyFiles(v.ConfigMap.Items, ""), fmt.Sprintf("volume %q (ConfigMap %q)", v.Name, v.ConfigMap.Name))
	case v.Secret != nil:
		return overlapsAmong(keyFiles(v.Secret.Items, ""), fmt.Sprintf("volume %q (Secret %q)", v.Name, v.Secret.SecretName))
	case v.DownwardAPI != nil:
		return overlapsAmong(downwardFiles(v.DownwardAPI.Items, ""), fmt.Sprintf("volume %q (DownwardAPI)", v.Name))
	case v.Projected == nil:
		return nil
	}
	var warnings []string
	var files []file
	for i := range v.Projected.Sources {
		s := &v.Projected.Sources[i]
		if *s == (corev1.VolumeProjection{}) {
			warnings = append(warnings, fmt.Sprintf("volume %q (Projected) has no sources provided", v.Name))
		}
		files = append(files, filesOf(s)...)
	}
	return append(warnings, overlapsAmong(files, fmt.Sprintf("volume %q (Projected)", v.Name))...)
}

func filesOf(s *corev1.VolumeProjection) []file {
	switch {
	case s.ConfigMap != nil:
		return keyFiles(s.ConfigMap.Items, fmt.Sprintf("ConfigMap %q", s.ConfigMap.Name))
	case s.Secret != nil:
		return keyFiles(s.Secret.Items, fmt.Sprintf("Secret %q", s.Secret.Name))
	case s.DownwardAPI != nil:
		return downwardFiles(s.DownwardAPI.Items, "DownwardAPI")
	case s.ServiceAccountToken != nil:
		return []file{{s.ServiceAccountToken.Path, "ServiceAccountToken"}}
	case s.ClusterTrustBundle != nil:
		b := s.ClusterTrustBundle
		return []file{{b.Path, fmt.Sprintf("ClusterTrustBundle %q", ptr.Deref(b.Name, ptr.Deref(b.SignerName, "")))}}
	}
	return nil
}

func keyFiles(items []corev1.KeyToPath, of string) []file {
	var files []file
	for _, item := range items {
		files = append(files, file{item.Path, of})
	}
	return files
}

func downwardFiles(items []corev1.DownwardAPIVolumeFile, of string) []file {
	var files []file
	for _, item := range items {
		files = append(files, file{item.Path, of})
	}
	return files
}

func overlapsAmong(files []file, volume string) []string {
	var warnings []string
	for i := range files {
		files[i].path = strings.TrimRight(files[i].path, "/")
		for _, earlier := range files[:i] {
			if files[i].path != "" && earlier.path != "" && files[i].overlaps(earlier) {
				warnings = append(warnings, fmt.Sprintf("%s: overlapping paths: %s with %s", volume, files[i], earlier))
			}
		}
	}
	return warnings
}
