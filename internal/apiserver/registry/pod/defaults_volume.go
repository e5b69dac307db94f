package pod

import (
	corev1 "k8s.io/api/core/v1"
)

func defaultVolume(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if v.HostPath != nil {
		v.HostPath.Type = orDefault(v.HostPath.Type, corev1.HostPathUnset)
	}
	if v.Secret != nil {
		v.Secret.DefaultMode = orDefault(v.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
	if v.ConfigMap != nil {
		v.ConfigMap.DefaultMode = orDefault(v.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
	if v.DownwardAPI != nil {
		v.DownwardAPI.DefaultMode = orDefault(v.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		defaultDownwardFiles(v.DownwardAPI.Items)
	}
	if v.Projected != nil {
		defaultProjected(v.Projected)
	}
	if v.Image != nil {
		setDefault(&v.Image.PullPolicy, defaultPullPolicy(v.Image.Reference))
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		claim := &v.Ephemeral.VolumeClaimTemplate.Spec
		claim.VolumeMode = orDefault(claim.VolumeMode, corev1.PersistentVolumeFilesystem)
	}
	defaultDisk(v)
}

// defaultDisk sets the defaults of network volumes.
func defaultDisk(v *corev1.Volume) {
	if v.ISCSI != nil {
		setDefault(&v.ISCSI.ISCSIInterface, "default")
	}
	if v.RBD != nil {
		setDefault(&v.RBD.RBDPool, "rbd")
		setDefault(&v.RBD.RadosUser, "admin")
		setDefault(&v.RBD.Keyring, "/etc/ceph/keyring")
	}
	if v.ScaleIO != nil {
		setDefault(&v.ScaleIO.StorageMode, "ThinProvisioned")
		setDefault(&v.ScaleIO.FSType, "xfs")
	}
	if d := v.AzureDisk; d != nil {
		d.CachingMode = orDefault(d.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		d.Kind = orDefault(d.Kind, corev1.AzureSharedBlobDisk)
		d.FSType = orDefault(d.FSType, "ext4")
		d.ReadOnly = orDefault(d.ReadOnly, false)
	}
}

func defaultProjected(p *corev1.ProjectedVolumeSource) {
	p.DefaultMode = orDefault(p.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	for i := range p.Sources {
		s := &p.Sources[i]
		if s.DownwardAPI != nil {
			defaultDownwardFiles(s.DownwardAPI.Items)
		}
		if t := s.ServiceAccountToken; t != nil {
			t.ExpirationSeconds = orDefault(t.ExpirationSeconds, int64(60*60))
		}
	}
}

func defaultDownwardFiles(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		if f := files[i].FieldRef; f != nil {
			setDefault(&f.APIVersion, "v1")
		}
	}
}
