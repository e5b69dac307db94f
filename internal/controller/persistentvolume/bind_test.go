package persistentvolume_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	core "github.com/stint-dev/stint/internal/persistentvolume"
)

func TestAClaimIsBoundToTheSmallestVolumeThatFits(t *testing.T) {
	w := start(t)
	w.volume("large", of("3Gi"))
	w.volume("fits-b", of("2Gi"))
	w.volume("fits-a", of("2Gi"))
	w.volume("small", of("1Gi"))
	for _, name := range []string{"large", "fits-a", "fits-b", "small"} {
		w.phases("no-claim", "gone", name, "Available")
	}
	w.claim("data", "", asking("1500Mi"))
	c, v := w.bound("data")
	if v.Name != "fits-a" || !metav1.HasAnnotation(v.ObjectMeta, storagevolume.AnnBoundByController) {
		t.Errorf("bound to %s with %v", v.Name, v.Annotations)
	}
	if !core.IsBound(c) || !metav1.HasAnnotation(c.ObjectMeta, storagevolume.AnnBoundByController) {
		t.Errorf("annotations of the claim: %v", c.Annotations)
	}
	if size := c.Status.Capacity[corev1.ResourceStorage]; size.String() != "2Gi" || len(c.Status.AccessModes) != 1 {
		t.Errorf("status of the claim: %+v", c.Status)
	}
}

func TestAClaimIsBoundWhenAVolumeComes(t *testing.T) {
	w := start(t)
	w.claim("data", "")
	w.told("FailedBinding: no persistent volumes available for this claim and no storage class is set")
	w.volume("small", of("1Mi"))
	w.volume("fits")
	if _, v := w.bound("data"); v.Name != "fits" {
		t.Errorf("bound to %s", v.Name)
	}
}

func TestAClaimThatNamesAVolumeGetsNoOther(t *testing.T) {
	w := start(t)
	w.volume("a")
	w.claim("data", "", naming("b"))
	w.told(`FailedBinding: persistentvolume "b" not found`)
	w.volume("b", of("5Gi"))
	c, v := w.bound("data")
	if v.Name != "b" || metav1.HasAnnotation(c.ObjectMeta, storagevolume.AnnBoundByController) {
		t.Errorf("bound to %s, annotations %v", v.Name, c.Annotations)
	}
}

func TestAClaimThatNamesAVolumeThatDoesNotFitWaits(t *testing.T) {
	w := start(t)
	w.volume("small", of("1Mi"))
	w.claim("data", "", naming("small"))
	w.told(`VolumeMismatch: Cannot bind to requested volume "small": requested PV is too small`)
	w.phases("data", "Pending", "small", "Available")
}

func TestAVolumeThatNamesAClaimIsBoundToNoOther(t *testing.T) {
	w := start(t)
	w.volume("reserved", forClaim("data"))
	w.phases("no-claim", "gone", "reserved", "Available")
	w.claim("other", "")
	w.told("FailedBinding: no persistent volumes available for this claim and no storage class is set")
	w.volume("smaller", of("1Mi"))
	w.claim("data", "")
	_, v := w.bound("data")
	if v.Name != "reserved" || metav1.HasAnnotation(v.ObjectMeta, storagevolume.AnnBoundByController) {
		t.Errorf("bound to %s, annotations %v", v.Name, v.Annotations)
	}
}

func TestAVolumeAndAClaimMayNameEachOther(t *testing.T) {
	w := start(t)
	w.claim("data", "", naming("v"))
	w.volume("v", forClaim("data"))
	w.bound("data")
}

func TestAClaimThatNamesTheVolumeOfAnotherWaitsUntilItIsFree(t *testing.T) {
	w := start(t)
	w.volume("v")
	w.phases("no-claim", "gone", "v", "Available")
	first := w.claim("first", "")
	w.bound("first")
	w.claim("second", "", naming("v"))
	w.told(`FailedBinding: volume "v" already bound to a different claim`)
	w.deleteClaim(first)
	w.phases("first", "gone", "v", "Released")
	w.phases("second", "Pending", "v", "Released")
	w.put(w.PersistentVolumes().Modify(t.Context(), w.getVolume("v"), func(v *corev1.PersistentVolume) { v.Spec.ClaimRef = nil }))
	w.bound("second")
}

func TestAClaimLosesItsVolume(t *testing.T) {
	w := start(t)
	w.volume("v")
	w.claim("data", "", naming("v"))
	_, v := w.bound("data")
	w.deleteVolume(v)
	w.phases("data", "Bound", "v", "Bound")
	w.put(w.PersistentVolumes().Modify(t.Context(), v, func(v *corev1.PersistentVolume) { v.Finalizers = nil }))
	w.phases("data", "Lost", "v", "gone")
	w.told(`ClaimLost: The volume "v" of the claim does not exist any more, and its data is lost`)

	w.volume("v", forClaim("data"))
	w.bound("data")
}

func TestAVolumeIsFreedThatAClaimThatIsBoundElsewhereHasNever(t *testing.T) {
	w := start(t)
	w.volume("a")
	w.phases("no-claim", "gone", "a", "Available")
	w.claim("data", "")
	c, _ := w.bound("data")
	w.volume("b", forClaim("data"), func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = c.UID })
	w.phases("data", "Bound", "b", "Available")
	if v := w.getVolume("b"); v.Spec.ClaimRef == nil || v.Spec.ClaimRef.UID != "" {
		t.Errorf("names %v", v.Spec.ClaimRef)
	}
}
