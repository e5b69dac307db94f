package claims_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storage "k8s.io/component-helpers/storage/volume"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/claims"
)

// The informers, which are not started here, may show an old state. A claim whose deletion they do not show yet must not be
// used by a new pod; one that has used it before keeps it.
func TestAVolumeIsReadLive(t *testing.T) {
	c := apiservertest.Start(t, func(*apiserver.Config) {}).Client()
	storageRequest := corev1.ResourceList{"storage": resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim, err := c.PersistentVolumeClaims().Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: "default", Annotations: map[string]string{storage.AnnBindCompleted: "yes"}},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: modes, VolumeName: "volume",
			Resources: corev1.VolumeResourceRequirements{Requests: storageRequest}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.PersistentVolumes().Create(t.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "volume"},
		Spec: corev1.PersistentVolumeSpec{AccessModes: modes, Capacity: storageRequest,
			ClaimRef:               &corev1.ObjectReference{Namespace: "default", Name: "data", UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: t.TempDir()}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "default"}}
	volume := &corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}
	read := func(used bool) error {
		_, err := claims.Reader{Client: c, Node: "here"}.Volume(t.Context(), pod, volume, used)
		return err
	}
	if err := read(false); err != nil {
		t.Fatal(err)
	}
	if err := c.PersistentVolumeClaims().Delete(t.Context(), claim, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := read(false); err == nil {
		t.Error("a claim that is being deleted is given to a new pod")
	}
	if err := read(true); err != nil {
		t.Errorf("a pod that uses the claim loses it: %v", err)
	}
}
