package model_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	core "github.com/stint-dev/stint/internal/persistentvolume"
	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

var (
	claimNames  = []string{"a", "b", "c"}
	volumeNames = []string{"v", "w", "x"}
	sizes       = []string{"1Gi", "2Gi", "3Gi"}
)

func (w *world) actions() map[string]func(*rapid.T) {
	return w.Actions(w.start,
		simulated.Action{Times: 1, Name: "time", Do: func(t *rapid.T) {
			w.Pass(time.Duration(rapid.IntRange(3, 100).Draw(t, "seconds")) * time.Second)
		}},
		simulated.Action{Times: 3, Name: "claim", Do: w.createClaim},
		simulated.Action{Times: 2, Name: "volume", Do: w.createVolume},
		simulated.Action{Times: 2, Name: "pod", Do: w.createPod},
		simulated.Action{Times: 2, Name: "node", Do: w.nodeActs},
		simulated.Action{Times: 3, Name: "delete", Do: w.deleteOne},
		simulated.Action{Times: 1, Name: "user", Do: w.userActs})
}

func (w *world) createClaim(t *rapid.T) {
	name := rapid.SampledFrom(claimNames).Draw(t, "name")
	if w.claims.Find(namespace, name) != nil {
		t.Skip("it exists")
	}
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: ptr.To(rapid.SampledFrom([]string{"", "", deleting, keeping, waiting}).Draw(t, "class")),
		AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:        corev1.VolumeResourceRequirements{Requests: drawSize(t)}}}
	if *c.Spec.StorageClassName == "" && simulated.OneIn(t, 3, "names a volume") {
		c.Spec.VolumeName = rapid.SampledFrom(volumeNames).Draw(t, "volume")
	}
	w.Logf("user creates claim %s of class %q, volume %q", name, *c.Spec.StorageClassName, c.Spec.VolumeName)
	w.must(w.claims.Create(c))
}

func drawSize(t *rapid.T) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(rapid.SampledFrom(sizes).Draw(t, "size"))}
}

func drawPolicy(t *rapid.T) corev1.PersistentVolumeReclaimPolicy {
	return rapid.SampledFrom([]corev1.PersistentVolumeReclaimPolicy{corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain}).Draw(t, "policy")
}

func (w *world) createVolume(t *rapid.T) {
	name := rapid.SampledFrom(volumeNames).Draw(t, "name")
	if w.volumes.Find("", name) != nil {
		t.Skip("it exists")
	}
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{Capacity: drawSize(t),
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, PersistentVolumeReclaimPolicy: drawPolicy(t),
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/d"}}}}
	if simulated.OneIn(t, 3, "names a claim") {
		v.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: namespace,
			Name: rapid.SampledFrom(claimNames).Draw(t, "claim")}
	}
	w.Logf("user creates volume %s for %v", name, v.Spec.ClaimRef)
	w.must(w.volumes.Create(v))
}

func (w *world) createPod(t *rapid.T) {
	name := fmt.Sprintf("p%d", len(w.pods.All()))
	claim := rapid.SampledFrom(claimNames).Draw(t, "claim")
	if w.pods.Find(namespace, name) != nil {
		t.Skip("it exists")
	}
	w.Logf("user creates pod %s, which uses claim %s", name, claim)
	w.must(w.pods.Create(wrappers.MakePod(name).Namespace(namespace).Image("i").With(func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	}).Obj()))
}

// nodeActs binds a pod, starts one or ends one.
func (w *world) nodeActs(t *rapid.T) {
	all := w.pods.All()
	if len(all) == 0 {
		t.Skip("no pods")
	}
	p := rapid.SampledFrom(all).Draw(t, "pod")
	switch {
	case p.Status.Phase == corev1.PodSucceeded:
		t.Skip("it has ended")
	case p.Spec.NodeName == "":
		w.Logf("node binds pod %s", p.Name)
		w.pods.Change(p, func(p *corev1.Pod) { p.Spec.NodeName = node })
	case p.Status.Phase == corev1.PodRunning || !w.mayStart(p):
		w.endPod(p)
	default:
		w.Logf("node starts pod %s", p.Name)
		w.pods.Change(p, func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
	}
}

// mayStart reports whether the claim of a pod is bound and not being deleted.
func (w *world) mayStart(p *corev1.Pod) bool {
	c := w.claims.Find(namespace, core.ClaimsOf(p)[0])
	if c == nil || !core.IsBound(c) || c.DeletionTimestamp != nil {
		return false
	}
	v := w.volumes.Find("", c.Spec.VolumeName)
	return v != nil && claimOf(v) == c.UID
}

func (w *world) endPod(p *corev1.Pod) {
	if p.Status.Phase == corev1.PodSucceeded {
		return
	}
	w.Logf("pod %s ends", p.Name)
	w.pods.Change(p, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
}

func (w *world) deleteOne(t *rapid.T) {
	if simulated.OneIn(t, 3, "a volume") {
		simulated.DeleteOne(w.World, t, w.volumes)
		return
	}
	simulated.DeleteOne(w.World, t, w.claims)
}

// userActs changes a volume, or breaks the disk.
func (w *world) userActs(t *rapid.T) {
	if simulated.OneIn(t, 3, "the disk fails") {
		w.fails = rapid.IntRange(1, 3).Draw(t, "times")
		w.Logf("the disk fails %d times", w.fails)
		return
	}
	all := w.volumes.All()
	if len(all) == 0 {
		t.Skip("no volumes")
	}
	v := rapid.SampledFrom(all).Draw(t, "volume")
	switch rapid.SampledFrom([]string{"policy", "policy", "free", "force"}).Draw(t, "what") {
	case "policy":
		policy := drawPolicy(t)
		w.Logf("user sets the policy of %s to %s", v.Name, policy)
		w.must(w.volumes.Update("", v.Name, func(v *corev1.PersistentVolume) { v.Spec.PersistentVolumeReclaimPolicy = policy }))
	case "free":
		if v.Status.Phase != corev1.VolumeReleased {
			t.Skip("it is not released")
		}
		w.Logf("user takes the claim from %s", v.Name)
		w.must(w.volumes.Update("", v.Name, func(v *corev1.PersistentVolume) { v.Spec.ClaimRef = nil }))
	case "force":
		w.Logf("user takes the finalizers from %s", v.Name)
		w.must(w.volumes.Update("", v.Name, func(v *corev1.PersistentVolume) { v.Finalizers = nil }))
	}
}
