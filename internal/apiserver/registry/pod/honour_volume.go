package pod

import (
	"iter"
	"path"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// nodeVolumes are the kinds of volumes that the node supports, by the names of their fields.
var nodeVolumes = []string{"emptyDir", "hostPath", "configMap", "secret", "downwardAPI", "projected", "persistentVolumeClaim", "ephemeral"}

const (
	noOwners = "files of volumes belong to the pod's user or group, not to one each: remove it"
	noTokens = "pods get no service account token here: remove it"

	// NoBlockDevices and NoDataSources are why claims are refused.
	NoBlockDevices = "block devices are not offered to pods: use Filesystem"
	NoDataSources  = "volumes are not filled with data here: remove it, and copy the data in a Job"
	// MountItYourself is why volumes of the network and of clouds are refused.
	MountItYourself = "this node mounts only directories of this machine: mount it on the machine, and use a hostPath, or a claim that " +
		"stint run --claim NAME=DIRECTORY makes"
)

// volumeRules are the rules for volumes of the supported kinds.
var volumeRules = []rule[*corev1.Volume]{
	{"emptyDir.medium", func(v *corev1.Volume) bool {
		return v.EmptyDir != nil && v.EmptyDir.Medium != corev1.StorageMediumDefault && v.EmptyDir.Medium != corev1.StorageMediumMemory
	}, nil, refuse, "this node has no such medium: use Memory, or leave it out"},
	{"hostPath.path", func(v *corev1.Volume) bool { return v.HostPath != nil && !path.IsAbs(v.HostPath.Path) }, nil, refuse,
		"must start at the root of the machine's file system: write it with a leading /"},
	{"emptyDir.sizeLimit", func(v *corev1.Volume) bool {
		return v.EmptyDir != nil && v.EmptyDir.SizeLimit != nil && v.EmptyDir.Medium == corev1.StorageMediumDefault
	}, measuring, warn, notMeasured},
	{"emptyDir.mode", func(v *corev1.Volume) bool { return v.EmptyDir != nil && v.EmptyDir.Mode != nil }, nil, refuse,
		"is alpha in Kubernetes, and not supported here: change the directory's mode in the command"},
	{"ephemeral.volumeClaimTemplate.spec.volumeMode", func(v *corev1.Volume) bool {
		s := templateOf(v)
		return s != nil && ptr.Deref(s.VolumeMode, "") == corev1.PersistentVolumeBlock
	}, nil, refuse, NoBlockDevices},
	{"ephemeral.volumeClaimTemplate.spec.dataSource", func(v *corev1.Volume) bool {
		s := templateOf(v)
		return s != nil && (s.DataSource != nil || s.DataSourceRef != nil)
	}, nil, refuse, NoDataSources},
	{"projected.defaultUser", func(v *corev1.Volume) bool { return v.Projected != nil && v.Projected.DefaultUser != nil }, nil, refuse, noOwners},
}

// projectionRules are the rules for sources of projected volumes.
var projectionRules = []rule[*corev1.VolumeProjection]{
	{"serviceAccountToken", func(s *corev1.VolumeProjection) bool { return s.ServiceAccountToken != nil }, nil, refuse, noTokens},
	{"clusterTrustBundle", func(s *corev1.VolumeProjection) bool { return s.ClusterTrustBundle != nil }, nil, refuse,
		"ClusterTrustBundles are not served: remove it"},
	{"podCertificate", func(s *corev1.VolumeProjection) bool { return s.PodCertificate != nil }, nil, refuse,
		"pods get no certificates here: remove it"},
}

// mountRules are the rules for volume mounts.
var mountRules = []rule[*corev1.VolumeMount]{
	{"mountPropagation", func(m *corev1.VolumeMount) bool {
		return ptr.Deref(m.MountPropagation, corev1.MountPropagationNone) == corev1.MountPropagationBidirectional
	}, nil, refuse, "mounts that a container makes do not show on the machine: use HostToContainer, or remove it"},
	{"recursiveReadOnly", func(m *corev1.VolumeMount) bool {
		return ptr.Deref(m.RecursiveReadOnly, corev1.RecursiveReadOnlyDisabled) == corev1.RecursiveReadOnlyEnabled
	}, mountingReadOnly, refuse, "takes Linux 5.12, and a host process of this version, which is started when all pods have ended: use IfPossible"},
	{"bindMountOptions", func(m *corev1.VolumeMount) bool { return len(m.BindMountOptions) > 0 }, nil, refuse,
		"is alpha in Kubernetes, and not supported here: remove it"},
}

func checkVolume(v *corev1.Volume, node runtime.Info, p *field.Path) []finding {
	for _, kind := range volumeKinds(&v.VolumeSource) {
		if !slices.Contains(nodeVolumes, kind) {
			return []finding{{p.Child(kind), refuse, whyNot(kind)}}
		}
	}
	found := applyRules(volumeRules, v, node, p)
	if v.Projected != nil {
		for i := range v.Projected.Sources {
			at := p.Child("projected", "sources").Index(i)
			found = append(found, applyRules(projectionRules, &v.Projected.Sources[i], node, at)...)
		}
	}
	return append(found, checkFileOwners(v, p)...)
}

// whyNot returns the reason and remedy for a kind of volume that the node does not support.
func whyNot(kind string) string {
	if kind == "image" || kind == "gitRepo" {
		return "this node does not support such volumes: use one of " + strings.Join(nodeVolumes, ", ")
	}
	return MountItYourself
}

// templateOf returns the spec of the claim for an ephemeral volume, or nil.
func templateOf(v *corev1.Volume) *corev1.PersistentVolumeClaimSpec {
	if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil {
		return nil
	}
	return &v.Ephemeral.VolumeClaimTemplate.Spec
}

// checkFileOwners refuses owners of single files.
func checkFileOwners(v *corev1.Volume, p *field.Path) []finding {
	var found []finding
	for at, items := range keyItems(v, p) {
		for i := range items {
			if items[i].User != nil {
				found = append(found, finding{at.Index(i).Child("user"), refuse, noOwners})
			}
		}
	}
	for at, files := range downwardItems(v, p) {
		for i := range files {
			if files[i].User != nil {
				found = append(found, finding{at.Index(i).Child("user"), refuse, noOwners})
			}
		}
	}
	return found
}

func checkMount(m *corev1.VolumeMount, node runtime.Info, p *field.Path) []finding {
	if !node.CanMount {
		return []finding{{p.Child("mountPath"), refuse, "a volume cannot be mounted at this path on this machine: " + node.WhyNoMount}}
	}
	return applyRules(mountRules, m, node, p)
}

// volumeKinds returns the field names of the sources that are set. A valid volume has one.
func volumeKinds(s *corev1.VolumeSource) []string {
	var kinds []string
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if !v.Field(i).IsNil() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			kinds = append(kinds, name)
		}
	}
	return kinds
}

func volumeOf(s *corev1.PodSpec, name string) *corev1.Volume {
	for i := range s.Volumes {
		if s.Volumes[i].Name == name {
			return &s.Volumes[i]
		}
	}
	return nil
}

// keyItems iterates over the lists of keys that become files of a volume.
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

// downwardItems iterates over the lists of pod fields that become files of a volume.
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
