package pod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestVolumeRules(t *testing.T) {
	file := func(f corev1.DownwardAPIVolumeFile) podEdit {
		return withVolume(corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{f}}})
	}
	name := &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}
	config := func(path string) corev1.VolumeProjection {
		return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Items: []corev1.KeyToPath{{Key: "k", Path: path}},
		}}
	}
	const v0 = "spec.volumes[0]."
	runPodCases(t, map[string]podCase{
		"an empty folder is fine": {podEdits(withVolume(corev1.VolumeSource{})), nil},
		"volumes have distinct names": {podEdits(withVolume(corev1.VolumeSource{}), inSpec(func(s *corev1.PodSpec) {
			s.Volumes = append(s.Volumes, s.Volumes[0], corev1.Volume{})
		})), []string{"spec.volumes[1].name Duplicate", "spec.volumes[2].name Required"}},
		"a volume is of one kind": {podEdits(withVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}, HostPath: &corev1.HostPathVolumeSource{Path: "/"}})),
			[]string{v0 + "hostPath Forbidden"}},
		"a folder is not less than empty": {podEdits(withVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(amount("-1"))}})),
			[]string{v0 + "emptyDir.sizeLimit Forbidden"}},
		"a host path is somewhere":     {podEdits(withVolume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}})), []string{v0 + "hostPath.path Required"}},
		"a host path does not climb":   {podEdits(withVolume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/a/../b"}})), []string{v0 + "hostPath.path Invalid"}},
		"a host path is of some type":  {podEdits(withVolume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/a", Type: ptr.To(corev1.HostPathType("Door"))}})), []string{v0 + "hostPath.type NotSupported"}},
		"a secret has a name":          {podEdits(withVolume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}})), []string{v0 + "secret.secretName Required"}},
		"a config map has a name":      {podEdits(withVolume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}})), []string{v0 + "configMap.name Required"}},
		"a mode has nine bits":         {podEdits(withVolume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", DefaultMode: ptr.To[int32](0o1000)}})), []string{v0 + "secret.defaultMode Invalid"}},
		"a claim has a name":           {podEdits(withVolume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}})), []string{v0 + "persistentVolumeClaim.claimName Required"}},
		"a file's path is inside":      {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "../x", FieldRef: name})), []string{v0 + "downwardAPI.items[0].path Invalid"}},
		"a file's path is relative":    {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "/x", FieldRef: name})), []string{v0 + "downwardAPI.items[0].path Invalid"}},
		"a file does not look hidden":  {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "..x", FieldRef: name})), []string{v0 + "downwardAPI.items[0].path Invalid"}},
		"a file shows something":       {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "x"})), []string{v0 + "downwardAPI.items[0] Required"}},
		"a file shows all labels":      {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "x", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}})), nil},
		"a file cannot show a status":  {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "x", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}})), []string{v0 + "downwardAPI.items[0].fieldRef.fieldPath NotSupported"}},
		"a file shows whose limit":     {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "x", ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}})), []string{v0 + "downwardAPI.items[0].resourceFieldRef.containerName Required"}},
		"sources do not share a path":  {podEdits(withProjection(config("a"), config("a"))), []string{v0 + "projected Invalid"}},
		"sources have their own paths": {podEdits(withProjection(config("a"), config("b"))), nil},
		"a token becomes a file": {podEdits(withProjection(
			corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{}},
			corev1.VolumeProjection{ClusterTrustBundle: &corev1.ClusterTrustBundleProjection{}, PodCertificate: &corev1.PodCertificateProjection{}},
			corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "a", FieldRef: name, ResourceFieldRef: &corev1.ResourceFieldSelector{}}}}},
		)), []string{v0 + "projected.sources[0].serviceAccountToken.path Required", v0 + "projected.sources[1] Forbidden", v0 + "projected.sources[2].downwardAPI.items[0] Invalid"}},
		"a source is named": {podEdits(withProjection(corev1.VolumeProjection{Secret: &corev1.SecretProjection{}, ConfigMap: &corev1.ConfigMapProjection{}})),
			[]string{v0 + "projected.sources[0] Forbidden", v0 + "projected.sources[0].configMap.name Required", v0 + "projected.sources[0].secret.name Required"}},
		"a key becomes a path": {podEdits(withVolume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Items: []corev1.KeyToPath{{}},
		}})), []string{v0 + "configMap.items[0].key Required", v0 + "configMap.items[0].path Required"}},
	})
}

func TestMountRules(t *testing.T) {
	const m0 = firstContainer + "volumeMounts[0]."
	mounted := func(edit func(*corev1.VolumeMount)) []podEdit {
		return podEdits(withVolume(corev1.VolumeSource{}), inMount(edit))
	}
	runPodCases(t, map[string]podCase{
		"a mount shows a volume of the pod": {mounted(func(m *corev1.VolumeMount) { m.Name = "other" }), []string{m0 + "name NotFound"}},
		"a mount has a name and a path":     {mounted(func(m *corev1.VolumeMount) { *m = corev1.VolumeMount{} }), []string{m0 + "mountPath Required", m0 + "name Required"}},
		"no two mounts have one path": {podEdits(withVolume(corev1.VolumeSource{}), inContainer(func(c *corev1.Container) {
			c.VolumeMounts = append(c.VolumeMounts, c.VolumeMounts[0])
		})), []string{firstContainer + "volumeMounts[1].mountPath Invalid"}},
		"a part is inside":                {mounted(func(m *corev1.VolumeMount) { m.SubPath = "a/../../b" }), []string{m0 + "subPath Invalid"}},
		"a part is relative":              {mounted(func(m *corev1.VolumeMount) { m.SubPath = "/b" }), []string{m0 + "subPath Invalid"}},
		"a part is named once":            {mounted(func(m *corev1.VolumeMount) { m.SubPath, m.SubPathExpr = "a", "$(A)" }), []string{m0 + "subPathExpr Invalid"}},
		"an expression is inside":         {mounted(func(m *corev1.VolumeMount) { m.SubPathExpr = "../$(A)" }), []string{m0 + "subPathExpr Invalid"}},
		"propagation is among the known":  {mounted(func(m *corev1.VolumeMount) { m.MountPropagation = ptr.To(corev1.MountPropagationMode("Up")) }), []string{m0 + "mountPropagation NotSupported"}},
		"propagating out needs privilege": {mounted(func(m *corev1.VolumeMount) { m.MountPropagation = ptr.To(corev1.MountPropagationBidirectional) }), []string{m0 + "mountPropagation Forbidden"}},
		"all below is read-only if the mount is": {mounted(func(m *corev1.VolumeMount) { m.RecursiveReadOnly = ptr.To(corev1.RecursiveReadOnlyEnabled) }),
			[]string{m0 + "recursiveReadOnly Forbidden"}},
		"a device is a volume elsewhere": {podEdits(withVolume(corev1.VolumeSource{}), inContainer(func(c *corev1.Container) {
			c.VolumeDevices = []corev1.VolumeDevice{{Name: "data", DevicePath: "/data"}}
		})), []string{
			firstContainer + "volumeDevices[0].devicePath Invalid", firstContainer + "volumeDevices[0].name Invalid", firstContainer + "volumeDevices[0].name Invalid",
			firstContainer + "volumeMounts[0].mountPath Invalid", firstContainer + "volumeMounts[0].name Invalid",
		}},
	})
}
