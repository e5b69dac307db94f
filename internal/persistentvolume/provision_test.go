package persistentvolume_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/stint-dev/stint/internal/persistentvolume"
)

func TestOnlyProvisionedVolumesAreLocal(t *testing.T) {
	by := func(provisioner string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Annotations: map[string]string{storagevolume.AnnDynamicallyProvisioned: provisioner}}
	}
	local := corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/d"}}}
	path := corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/d"}}}
	for name, c := range map[string]struct {
		pv   corev1.PersistentVolume
		want bool
	}{
		"provisioned here":             {corev1.PersistentVolume{ObjectMeta: by(persistentvolume.Provisioner), Spec: local}, true},
		"of a user":                    {corev1.PersistentVolume{Spec: local}, false},
		"of another provisioner":       {corev1.PersistentVolume{ObjectMeta: by("example.com/disks"), Spec: local}, false},
		"of a user who says otherwise": {corev1.PersistentVolume{ObjectMeta: by(persistentvolume.Provisioner), Spec: path}, false},
	} {
		if got := persistentvolume.IsLocal(&c.pv); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
