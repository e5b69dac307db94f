package persistentvolume_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/controller/persistentvolume"
	core "github.com/stint-dev/stint/internal/persistentvolume"
	"github.com/stint-dev/stint/test/await"
)

// provisioned returns a claim and its local volume, which has data.
func (w *world) provisioned(class string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	w.Helper()
	w.claim("data", class)
	c, v := w.bound("data")
	w.fill(w, v.Name)
	return c, v
}

func TestDataGoesWithItsClaim(t *testing.T) {
	w := start(t)
	w.class("now", core.Provisioner, immediate)
	c, v := w.provisioned("now")
	w.deleteClaim(c)
	w.phases("data", "gone", v.Name, "gone")
	if w.has(v.Name) {
		t.Error("the data is still there")
	}
}

func TestDataStaysUnderRetain(t *testing.T) {
	w := start(t)
	w.class("kept", core.Provisioner, retained)
	c, v := w.provisioned("kept")
	w.deleteClaim(c)
	w.phases("data", "gone", v.Name, "Released")
	w.deleteVolume(v)
	w.phases("data", "gone", v.Name, "gone")
	if !w.has(v.Name) {
		t.Error("the data is gone")
	}
}

func TestTheNewestPolicyCounts(t *testing.T) {
	w := start(t)
	w.class("now", core.Provisioner, immediate)
	c, v := w.provisioned("now")
	w.put(w.PersistentVolumes().Modify(t.Context(), v, policy(corev1.PersistentVolumeReclaimRetain)))
	w.deleteClaim(c)
	w.phases("data", "gone", v.Name, "Released")
	if !w.has(v.Name) {
		t.Error("the data is gone")
	}
	w.put(w.PersistentVolumes().Modify(t.Context(), v, policy(corev1.PersistentVolumeReclaimDelete)))
	w.phases("data", "gone", v.Name, "gone")
	if w.has(v.Name) {
		t.Error("the data is still there")
	}
}

func TestDataStaysUntilTheClaimOfADeletedVolumeIsGone(t *testing.T) {
	w := start(t)
	w.class("now", core.Provisioner, immediate)
	c, v := w.provisioned("now")
	w.deleteVolume(v)
	w.claim("next", "now")
	w.bound("next")
	w.phases("data", "Bound", v.Name, "Bound")
	if !w.has(v.Name) {
		t.Error("the data is gone")
	}
	w.deleteClaim(c)
	w.phases("data", "gone", v.Name, "gone")
	if w.has(v.Name) {
		t.Error("the data is still there")
	}
}

func TestDataOfAUserIsNeverRemoved(t *testing.T) {
	w := start(t)
	w.volume("mine", policy(corev1.PersistentVolumeReclaimDelete))
	c := w.claim("data", "", naming("mine"))
	w.bound("data")
	w.deleteClaim(c)
	w.phases("data", "gone", "mine", "Failed")
	const why = "no deleter for this kind of volume: its data stays; delete the volume, or set its policy Delete to Retain"
	w.told("VolumeFailedDelete: " + why)
	v := w.getVolume("mine")
	if v.Status.Message != why {
		t.Errorf("status %+v", v.Status)
	}
	w.put(w.PersistentVolumes().Modify(t.Context(), v, policy(corev1.PersistentVolumeReclaimRetain)))
	w.phases("data", "gone", "mine", "Released")
	w.deleteVolume(v)
	w.phases("data", "gone", "mine", "gone")
}

func TestAClaimInUseStaysUntilItsPodHasTerminated(t *testing.T) {
	w := start(t)
	c := w.claim("data", "local")
	waits := w.user("waits", "data")
	runs := w.user("runs", "data", onNode)
	_, v := w.bound("data")
	w.fill(t, v.Name)
	w.deleteClaim(c)
	other := w.claim("other", "local")
	w.deleteClaim(other)
	w.phases("other", "gone", v.Name, "Bound")
	if got := w.getClaim("data"); got == nil || got.DeletionTimestamp == nil || !w.has(v.Name) {
		t.Fatalf("the claim is %+v", got)
	}
	w.end(runs)
	w.phases("data", "gone", v.Name, "gone")
	if w.getVolume(v.Name) != nil || w.Pods() == nil || waits.Spec.NodeName != "" {
		t.Error("the volume is still there")
	}
}

// stubborn fails to remove until it may.
type stubborn struct {
	directories
	may   atomic.Bool
	asked atomic.Int32
}

func (s *stubborn) Remove(ctx context.Context, name string) error {
	if s.asked.Add(1); !s.may.Load() {
		return errors.New("a file is busy")
	}
	return s.directories.Remove(ctx, name)
}

func TestARemovalThatFailsIsRetriedAndToldOnce(t *testing.T) {
	w := open(t)
	s := &stubborn{directories: w.directories}
	w.control(persistentvolume.Options{Provisioner: s})
	w.class("now", core.Provisioner, immediate)
	c, v := w.provisioned("now")
	w.deleteClaim(c)
	w.phases("data", "gone", v.Name, "Failed")
	await.Until(t, "it is tried again", func() bool { return s.asked.Load() > 3 })
	told := 0
	for _, e := range w.events.list() {
		if e == "VolumeFailedDelete: a file is busy" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times: %v", told, w.events.list())
	}
	s.may.Store(true)
	w.phases("data", "gone", v.Name, "gone")
	if w.has(v.Name) {
		t.Error("the data is still there")
	}
}

func TestAClaimOfTheSameNameIsAnother(t *testing.T) {
	w := start(t)
	w.class("now", core.Provisioner, immediate)
	first, old := w.provisioned("now")
	w.stop()
	w.put(w.PersistentVolumeClaims().Modify(t.Context(), first, func(c *corev1.PersistentVolumeClaim) { c.Finalizers = nil }))
	w.deleteClaim(first)
	w.claim("data", "now")
	w.control(persistentvolume.Options{Provisioner: w.directories})
	_, v := w.bound("data")
	w.phases("data", "Bound", old.Name, "gone")
	if v.Name == old.Name || w.has(old.Name) {
		t.Errorf("bound to %s", v.Name)
	}
}

func TestAVolumeWhoseClaimReferenceIsTakenAwayKeepsItsData(t *testing.T) {
	w := start(t)
	w.class("kept", core.Provisioner, retained)
	c, v := w.provisioned("kept")
	w.deleteClaim(c)
	w.phases("data", "gone", v.Name, "Released")
	w.put(w.PersistentVolumes().Modify(t.Context(), w.getVolume(v.Name), func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = nil
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	}))
	w.phases("data", "gone", v.Name, "Available")
	w.deleteVolume(v)
	w.phases("data", "gone", v.Name, "gone")
	if !w.has(v.Name) {
		t.Error("the data is gone")
	}
}
