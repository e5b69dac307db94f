package pod

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// validateVolumes validates volumes. It returns them by name, for the validation of mounts.
func validateVolumes(volumes []corev1.Volume, p *field.Path) (map[string]*corev1.Volume, field.ErrorList) {
	var errs field.ErrorList
	byName := make(map[string]*corev1.Volume, len(volumes))
	for i := range volumes {
		v, at := &volumes[i], p.Index(i)
		errs = append(errs, ValidateVolumeSource(&v.VolumeSource, at)...)
		errs = append(errs, check.Label(v.Name, at.Child("name"))...)
		if _, taken := byName[v.Name]; taken {
			errs = append(errs, field.Duplicate(at.Child("name"), v.Name))
		}
		byName[v.Name] = v
	}
	return byName, errs
}

// volumeSource is a kind of volume.
type volumeSource struct {
	field string
	// validate reports whether the volume is of this kind, and returns its errors.
	validate func(*corev1.VolumeSource, *field.Path) (bool, field.ErrorList)
}

// source returns a volumeSource for a field and its validation function.
func source[T any](name string, get func(*corev1.VolumeSource) *T, validate func(*T, *field.Path) field.ErrorList) volumeSource {
	return volumeSource{name, func(s *corev1.VolumeSource, p *field.Path) (bool, field.ErrorList) {
		v := get(s)
		if v == nil {
			return false, nil
		}
		return true, validate(v, p.Child(name))
	}}
}

// ValidateVolumeSource validates the first source that is set, and requires that no other one is set.
func ValidateVolumeSource(s *corev1.VolumeSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	found := false
	for _, kind := range volumeSources {
		set, wrong := kind.validate(s, p)
		switch {
		case !set:
		case found:
			errs = append(errs, field.Forbidden(p.Child(kind.field), "may not specify more than 1 volume type"))
		default:
			found = true
			errs = append(errs, wrong...)
		}
	}
	if !found {
		errs = append(errs, field.Required(p, "must specify a volume type"))
	}
	return errs
}

// volumeSources are all kinds of volumes. Their order decides which source counts as the first one.
var volumeSources = []volumeSource{
	source("emptyDir", func(s *corev1.VolumeSource) *corev1.EmptyDirVolumeSource { return s.EmptyDir }, validateEmptyDir),
	source("hostPath", func(s *corev1.VolumeSource) *corev1.HostPathVolumeSource { return s.HostPath }, validateHostPath),
	source("gitRepo", func(s *corev1.VolumeSource) *corev1.GitRepoVolumeSource { return s.GitRepo }, validateGitRepo),
	source("gcePersistentDisk", func(s *corev1.VolumeSource) *corev1.GCEPersistentDiskVolumeSource { return s.GCEPersistentDisk }, validateGCEDisk),
	source("awsElasticBlockStore", func(s *corev1.VolumeSource) *corev1.AWSElasticBlockStoreVolumeSource { return s.AWSElasticBlockStore }, validateAWSDisk),
	source("secret", func(s *corev1.VolumeSource) *corev1.SecretVolumeSource { return s.Secret }, validateSecretVolume),
	source("nfs", func(s *corev1.VolumeSource) *corev1.NFSVolumeSource { return s.NFS }, validateNFS),
	source("iscsi", func(s *corev1.VolumeSource) *corev1.ISCSIVolumeSource { return s.ISCSI }, validateISCSI),
	source("glusterfs", func(s *corev1.VolumeSource) *corev1.GlusterfsVolumeSource { return s.Glusterfs }, validateGlusterfs),
	source("flocker", func(s *corev1.VolumeSource) *corev1.FlockerVolumeSource { return s.Flocker }, validateFlocker),
	source("persistentVolumeClaim", func(s *corev1.VolumeSource) *corev1.PersistentVolumeClaimVolumeSource { return s.PersistentVolumeClaim }, validateClaimVolume),
	source("rbd", func(s *corev1.VolumeSource) *corev1.RBDVolumeSource { return s.RBD }, validateRBD),
	source("cinder", func(s *corev1.VolumeSource) *corev1.CinderVolumeSource { return s.Cinder }, validateCinder),
	source("cephfs", func(s *corev1.VolumeSource) *corev1.CephFSVolumeSource { return s.CephFS }, validateCephFS),
	source("quobyte", func(s *corev1.VolumeSource) *corev1.QuobyteVolumeSource { return s.Quobyte }, validateQuobyte),
	source("downwardAPI", func(s *corev1.VolumeSource) *corev1.DownwardAPIVolumeSource { return s.DownwardAPI }, validateDownwardVolume),
	source("fc", func(s *corev1.VolumeSource) *corev1.FCVolumeSource { return s.FC }, validateFC),
	source("flexVolume", func(s *corev1.VolumeSource) *corev1.FlexVolumeSource { return s.FlexVolume }, validateFlexVolume),
	source("configMap", func(s *corev1.VolumeSource) *corev1.ConfigMapVolumeSource { return s.ConfigMap }, validateConfigMapVolume),
	source("azureFile", func(s *corev1.VolumeSource) *corev1.AzureFileVolumeSource { return s.AzureFile }, validateAzureFile),
	source("vsphereVolume", func(s *corev1.VolumeSource) *corev1.VsphereVirtualDiskVolumeSource { return s.VsphereVolume }, validateVsphere),
	source("photonPersistentDisk", func(s *corev1.VolumeSource) *corev1.PhotonPersistentDiskVolumeSource { return s.PhotonPersistentDisk }, validatePhoton),
	source("portworxVolume", func(s *corev1.VolumeSource) *corev1.PortworxVolumeSource { return s.PortworxVolume }, validatePortworx),
	source("azureDisk", func(s *corev1.VolumeSource) *corev1.AzureDiskVolumeSource { return s.AzureDisk }, validateAzureDisk),
	source("storageos", func(s *corev1.VolumeSource) *corev1.StorageOSVolumeSource { return s.StorageOS }, validateStorageOS),
	source("projected", func(s *corev1.VolumeSource) *corev1.ProjectedVolumeSource { return s.Projected }, validateProjected),
	source("scaleIO", func(s *corev1.VolumeSource) *corev1.ScaleIOVolumeSource { return s.ScaleIO }, validateScaleIO),
	source("csi", func(s *corev1.VolumeSource) *corev1.CSIVolumeSource { return s.CSI }, validateCSI),
	source("ephemeral", func(s *corev1.VolumeSource) *corev1.EphemeralVolumeSource { return s.Ephemeral }, validateEphemeral),
	source("image", func(s *corev1.VolumeSource) *corev1.ImageVolumeSource { return s.Image }, validateImageVolume),
}

func requireName(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	return nil
}

func validateEmptyDir(v *corev1.EmptyDirVolumeSource, p *field.Path) field.ErrorList {
	if v.SizeLimit != nil && v.SizeLimit.Sign() < 0 {
		return field.ErrorList{field.Forbidden(p.Child("sizeLimit"), "must be greater than or equal to 0")}
	}
	return nil
}

func validateHostPath(h *corev1.HostPathVolumeSource, p *field.Path) field.ErrorList {
	if h.Path == "" {
		return field.ErrorList{field.Required(p.Child("path"), "must be set")}
	}
	errs := validateNoDotDot(h.Path, p.Child("path"))
	if h.Type == nil {
		return errs
	}
	return append(errs, check.Supported(*h.Type, p.Child("type"), corev1.HostPathUnset, corev1.HostPathDirectoryOrCreate, corev1.HostPathDirectory,
		corev1.HostPathFileOrCreate, corev1.HostPathFile, corev1.HostPathSocket, corev1.HostPathCharDev, corev1.HostPathBlockDev)...)
}

func validateSecretVolume(v *corev1.SecretVolumeSource, p *field.Path) field.ErrorList {
	errs := requireName(v.SecretName, p.Child("secretName"))
	errs = append(errs, validateMode(v.DefaultMode, p.Child("defaultMode"))...)
	return append(errs, validateItems(v.Items, p.Child("items"))...)
}

func validateConfigMapVolume(v *corev1.ConfigMapVolumeSource, p *field.Path) field.ErrorList {
	errs := requireName(v.Name, p.Child("name"))
	errs = append(errs, validateMode(v.DefaultMode, p.Child("defaultMode"))...)
	return append(errs, validateItems(v.Items, p.Child("items"))...)
}

func validateDownwardVolume(v *corev1.DownwardAPIVolumeSource, p *field.Path) field.ErrorList {
	errs := validateMode(v.DefaultMode, p.Child("defaultMode"))
	return append(errs, validateDownwardFiles(v.Items, p.Child("items"))...)
}

func validateImageVolume(v *corev1.ImageVolumeSource, p *field.Path) field.ErrorList {
	return check.Among(v.PullPolicy, p.Child("pullPolicy"), corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
}

func validateMode(mode *int32, p *field.Path) field.ErrorList {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		return field.ErrorList{field.Invalid(p, *mode, "must be a number between 0 and 0777 (octal), both inclusive")}
	}
	return nil
}

// validateFilePath requires a path inside the volume.
func validateFilePath(path string, p *field.Path) field.ErrorList {
	if path == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	return validateLocalPath(path, p)
}

// validateLocalPath requires a path inside the volume that does not start with two dots. Such names are reserved for the
// versions of a volume's content.
func validateLocalPath(path string, p *field.Path) field.ErrorList {
	errs := validateInside(path, p)
	if len(errs) == 0 && strings.HasPrefix(path, "..") {
		errs = append(errs, field.Invalid(p, path, "must not start with '..'"))
	}
	return errs
}

// validateInside requires a relative path without "..".
func validateInside(path string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if strings.HasPrefix(path, "/") {
		errs = append(errs, field.Invalid(p, path, "must be a relative path"))
	}
	return append(errs, validateNoDotDot(path, p)...)
}

// validateNoDotDot refuses paths with the element "..".
func validateNoDotDot(path string, p *field.Path) field.ErrorList {
	for element := range strings.SplitSeq(path, "/") {
		if element == ".." {
			return field.ErrorList{field.Invalid(p, path, "must not contain '..'")}
		}
	}
	return nil
}
