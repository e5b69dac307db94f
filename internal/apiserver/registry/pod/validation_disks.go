package pod

import (
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// This file validates network volumes. The node supports none of them, but a server without a node accepts what
// Kubernetes accepts.

// value is a field that must be set.
type value struct{ field, value string }

func requireAll(p *field.Path, values ...value) field.ErrorList {
	var errs field.ErrorList
	for _, v := range values {
		errs = append(errs, requireName(v.value, p.Child(v.field))...)
	}
	return errs
}

func upTo255(n int32, p *field.Path) field.ErrorList {
	if n < 0 || n > 255 {
		return field.ErrorList{field.Invalid(p, n, validation.InclusiveRangeError(0, 255))}
	}
	return nil
}

func validateSecretRef(ref *corev1.LocalObjectReference, p *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	return requireName(ref.Name, p.Child("name"))
}

func validateGitRepo(v *corev1.GitRepoVolumeSource, p *field.Path) field.ErrorList {
	errs := requireAll(p, value{"repository", v.Repository})
	return append(errs, validateInside(v.Directory, p.Child("directory"))...)
}

func validateGCEDisk(v *corev1.GCEPersistentDiskVolumeSource, p *field.Path) field.ErrorList {
	errs := requireAll(p, value{"pdName", v.PDName})
	return append(errs, upTo255(v.Partition, p.Child("partition"))...)
}

func validateAWSDisk(v *corev1.AWSElasticBlockStoreVolumeSource, p *field.Path) field.ErrorList {
	errs := requireAll(p, value{"volumeID", v.VolumeID})
	return append(errs, upTo255(v.Partition, p.Child("partition"))...)
}

func validateNFS(v *corev1.NFSVolumeSource, p *field.Path) field.ErrorList {
	errs := requireAll(p, value{"server", v.Server}, value{"path", v.Path})
	if !strings.HasPrefix(v.Path, "/") {
		errs = append(errs, field.Invalid(p.Child("path"), v.Path, "must be an absolute path"))
	}
	return errs
}

func validateGlusterfs(v *corev1.GlusterfsVolumeSource, p *field.Path) field.ErrorList {
	return requireAll(p, value{"endpoints", v.EndpointsName}, value{"path", v.Path})
}

func validateFlocker(v *corev1.FlockerVolumeSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case v.DatasetName == "" && v.DatasetUUID == "":
		errs = append(errs, field.Required(p, "one of datasetName and datasetUUID is required"))
	case v.DatasetName != "" && v.DatasetUUID != "":
		errs = append(errs, field.Invalid(p, v.DatasetName, "datasetName and datasetUUID can not be specified simultaneously"))
	}
	if strings.Contains(v.DatasetName, "/") {
		errs = append(errs, field.Invalid(p.Child("datasetName"), v.DatasetName, "must not contain '/'"))
	}
	return errs
}

func validateClaimVolume(v *corev1.PersistentVolumeClaimVolumeSource, p *field.Path) field.ErrorList {
	return requireAll(p, value{"claimName", v.ClaimName})
}

func validateRBD(v *corev1.RBDVolumeSource, p *field.Path) field.ErrorList {
	errs := validateMonitors(v.CephMonitors, p)
	return append(errs, requireAll(p, value{"image", v.RBDImage})...)
}

func validateCephFS(v *corev1.CephFSVolumeSource, p *field.Path) field.ErrorList {
	return validateMonitors(v.Monitors, p)
}

func validateMonitors(monitors []string, p *field.Path) field.ErrorList {
	if len(monitors) == 0 {
		return field.ErrorList{field.Required(p.Child("monitors"), "must be set")}
	}
	return nil
}

func validateCinder(v *corev1.CinderVolumeSource, p *field.Path) field.ErrorList {
	errs := requireAll(p, value{"volumeID", v.VolumeID})
	return append(errs, validateSecretRef(v.SecretRef, p.Child("secretRef"))...)
}

func validateQuobyte(v *corev1.QuobyteVolumeSource, p *field.Path) field.ErrorList {
	errs := requireAll(p, value{"registry", v.Registry}, value{"volume", v.Volume})
	if len(v.Tenant) > 64 {
		return append(errs, field.Required(p.Child("tenant"), "must be a UUID of at most 64 characters"))
	}
	if v.Registry == "" {
		return errs
	}
	for pair := range strings.SplitSeq(v.Registry, ",") {
		if _, _, err := net.SplitHostPort(pair); err != nil {
			errs = append(errs, field.Invalid(p.Child("registry"), v.Registry, "must be pairs of HOST:PORT, separated by commas"))
		}
	}
	return errs
}

func validateFC(v *corev1.FCVolumeSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case len(v.TargetWWNs) == 0 && len(v.WWIDs) == 0:
		errs = append(errs, field.Required(p.Child("targetWWNs"), "must specify either targetWWNs or wwids"))
	case len(v.TargetWWNs) > 0 && len(v.WWIDs) > 0:
		errs = append(errs, field.Invalid(p.Child("targetWWNs"), v.TargetWWNs, "targetWWNs and wwids can not be specified simultaneously"))
	}
	switch {
	case len(v.TargetWWNs) == 0:
	case v.Lun == nil:
		errs = append(errs, field.Required(p.Child("lun"), "lun is required if targetWWNs is specified"))
	default:
		errs = append(errs, upTo255(*v.Lun, p.Child("lun"))...)
	}
	return errs
}

func validateFlexVolume(v *corev1.FlexVolumeSource, p *field.Path) field.ErrorList {
	errs := requireAll(p, value{"driver", v.Driver})
	for key := range v.Options {
		namespace, _, _ := strings.Cut(key, "/")
		namespace = "." + strings.ToLower(namespace)
		if strings.HasSuffix(namespace, ".kubernetes.io") || strings.HasSuffix(namespace, ".k8s.io") {
			errs = append(errs, field.Invalid(p.Child("options").Key(key), key, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
	return errs
}

func validateAzureFile(v *corev1.AzureFileVolumeSource, p *field.Path) field.ErrorList {
	return requireAll(p, value{"secretName", v.SecretName}, value{"shareName", v.ShareName})
}

func validateAzureDisk(v *corev1.AzureDiskVolumeSource, p *field.Path) field.ErrorList {
	errs := requireAll(p, value{"diskName", v.DiskName}, value{"diskURI", v.DataDiskURI})
	if v.CachingMode != nil {
		errs = append(errs, check.Supported(*v.CachingMode, p.Child("cachingMode"),
			corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite)...)
	}
	if v.Kind == nil {
		return errs
	}
	errs = append(errs, check.Supported(*v.Kind, p.Child("kind"), corev1.AzureSharedBlobDisk, corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk)...)
	start := "https://"
	if *v.Kind == corev1.AzureManagedDisk {
		start = "/subscriptions/"
	}
	if !strings.HasPrefix(v.DataDiskURI, start) {
		errs = append(errs, field.NotSupported(p.Child("diskURI"), v.DataDiskURI, []string{start + "…"}))
	}
	return errs
}

func validateVsphere(v *corev1.VsphereVirtualDiskVolumeSource, p *field.Path) field.ErrorList {
	return requireAll(p, value{"volumePath", v.VolumePath})
}

func validatePhoton(v *corev1.PhotonPersistentDiskVolumeSource, p *field.Path) field.ErrorList {
	return requireAll(p, value{"pdID", v.PdID})
}

func validatePortworx(v *corev1.PortworxVolumeSource, p *field.Path) field.ErrorList {
	return requireAll(p, value{"volumeID", v.VolumeID})
}

func validateScaleIO(v *corev1.ScaleIOVolumeSource, p *field.Path) field.ErrorList {
	return requireAll(p, value{"gateway", v.Gateway}, value{"system", v.System}, value{"volumeName", v.VolumeName})
}

func validateStorageOS(v *corev1.StorageOSVolumeSource, p *field.Path) field.ErrorList {
	errs := check.Label(v.VolumeName, p.Child("volumeName"))
	if v.VolumeNamespace != "" {
		errs = append(errs, check.Label(v.VolumeNamespace, p.Child("volumeNamespace"))...)
	}
	return append(errs, validateSecretRef(v.SecretRef, p.Child("secretRef"))...)
}

const maxDriverName = 63

// ValidateDriver validates the name of a CSI driver.
func ValidateDriver(name string, p *field.Path) field.ErrorList {
	errs := requireName(name, p)
	if name != "" {
		errs = append(errs, check.Subdomain(strings.ToLower(name), p)...)
	}
	if len(name) > maxDriverName {
		errs = append(errs, field.TooLong(p, "", maxDriverName))
	}
	return errs
}

func validateCSI(v *corev1.CSIVolumeSource, p *field.Path) field.ErrorList {
	errs := ValidateDriver(v.Driver, p.Child("driver"))
	ref := ptr.Deref(v.NodePublishSecretRef, corev1.LocalObjectReference{})
	if ref.Name != "" {
		errs = append(errs, check.Subdomain(ref.Name, p.Child("nodePublishSecretRef", "name"))...)
	}
	return append(errs, validateSecretRef(v.NodePublishSecretRef, p.Child("nodePublishSecretRef"))...)
}
