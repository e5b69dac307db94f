package node_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storage "k8s.io/component-helpers/storage/volume"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/localvolume"
	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/persistentvolume"
)

// usingClaim mounts a claim in the pod's container.
func usingClaim(name string) func(*corev1.Pod) {
	return usingVolume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}})
}

func usingVolume(source corev1.VolumeSource) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: source})
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	}
}

func (h *testNode) claim(name string, mode corev1.PersistentVolumeAccessMode) *corev1.PersistentVolumeClaim {
	h.t.Helper()
	claim, err := h.client.PersistentVolumeClaims().Create(h.t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Finalizers: []string{"kubernetes.io/pvc-protection"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{mode},
			Resources:   corev1.VolumeResourceRequirements{Requests: quantities("storage", "1Gi")},
		},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return claim
}

// bind binds the claim to a volume at a path of this machine, or to a provisioned one if the path is empty.
func (h *testNode) bind(claim *corev1.PersistentVolumeClaim, path string, change func(*corev1.PersistentVolume)) {
	h.t.Helper()
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + string(claim.UID)},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: claim.Spec.AccessModes, Capacity: quantities("storage", "1Gi"),
			ClaimRef:               &corev1.ObjectReference{Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}},
		},
	}
	if path == "" {
		pv.Annotations = map[string]string{storage.AnnDynamicallyProvisioned: persistentvolume.Provisioner}
		pv.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/of/another/time"}}
		pv.Spec.NodeAffinity = onNode("here")
	}
	if change != nil {
		change(pv)
	}
	if _, err := h.client.PersistentVolumes().Create(h.t.Context(), pv); err != nil {
		h.t.Fatal(err)
	}
	h.modifyClaim(claim, func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName = pv.Name
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, storage.AnnBindCompleted, "yes")
	})
}

func (h *testNode) modifyClaim(claim *corev1.PersistentVolumeClaim, change func(*corev1.PersistentVolumeClaim)) {
	h.t.Helper()
	if _, err := h.client.PersistentVolumeClaims().Modify(h.t.Context(), claim, change); err != nil {
		h.t.Fatal(err)
	}
}

func onNode(name string) *corev1.VolumeNodeAffinity {
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{name}},
		},
	}}}}
}

// untilWaiting waits until the pod's status says that it waits, for this.
func (h *testNode) untilWaiting(pod *corev1.Pod, message string) *corev1.Pod {
	h.t.Helper()
	return h.until(pod, "the pod says "+message, func(p *corev1.Pod) bool {
		c := condition(p, corev1.PodScheduled)
		return c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable && strings.Contains(c.Message, message)
	})
}

func TestAPodWaitsUntilItsClaimIsBound(t *testing.T) {
	t.Parallel() // It only waits, for a second or more.
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("user", []string{"exit", "0"}, usingClaim("data")))
	h.untilWaiting(pod, `persistentvolumeclaim "data" not found`)
	claim := h.claim("data", corev1.ReadWriteOnce)
	h.untilWaiting(pod, "pod has unbound immediate PersistentVolumeClaims")
	dir := t.TempDir()
	h.bind(claim, dir, nil)
	h.until(pod, "the pod succeeds", inPhase(corev1.PodSucceeded))
	want := []runtime.Mount{{HostPath: dir, ContainerPath: "/data"}}
	if diff := cmp.Diff(want, rt.startedOf(pod.UID)[0].Mounts); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}

func TestAWaitingPodHoldsNoResources(t *testing.T) {
	t.Parallel()
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.Allocatable = quantities("cpu", "1", "memory", "1Gi", "pods", "10") })
	all := func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = quantities("cpu", "1") }
	first := h.create(build("first", []string{"exit", "0"}, func(p *corev1.Pod) { all(p); usingClaim("none")(p) }))
	h.untilWaiting(first, "not found")
	h.until(h.create(build("second", []string{"exit", "0"}, all)), "the second ends", inPhase(corev1.PodSucceeded))
}

// A claim is protected while a pod that is bound uses it. So the pod is bound before its container starts, and the claim is
// read again then.
func TestAPodWithAClaimIsBoundBeforeItStarts(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	var boundTo string
	rt.starting = func(c runtime.Container) {
		if pod, err := h.client.Pods().Get(context.Background(), c.PodNamespace, c.PodName); err == nil {
			boundTo = pod.Spec.NodeName
		}
	}
	h.startNode(nil)
	h.bind(h.claim("data", corev1.ReadWriteOnce), t.TempDir(), nil)
	h.until(h.create(build("user", []string{"exit", "0"}, usingClaim("data"))), "the pod succeeds", inPhase(corev1.PodSucceeded))
	if boundTo != "here" {
		t.Errorf("the pod was bound to %q when its container started", boundTo)
	}
}

func TestAClaimThatIsBeingDeletedIsNotUsed(t *testing.T) {
	t.Parallel()
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	claim := h.claim("data", corev1.ReadWriteOnce)
	h.bind(claim, t.TempDir(), nil)
	if err := h.client.PersistentVolumeClaims().Delete(t.Context(), claim, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.eventually("the informer shows the deletion", func() bool {
		obj, known, err := h.client.PersistentVolumeClaims().Informer().GetStore().Get(claim)
		return err == nil && known && obj.(*corev1.PersistentVolumeClaim).DeletionTimestamp != nil
	}, func() any { return claim.Name })
	pod := h.create(build("user", []string{"exit", "0"}, usingClaim("data")))
	h.untilWaiting(pod, `persistentvolumeclaim "data" is being deleted`)
	if started := rt.startedOf(pod.UID); len(started) > 0 {
		t.Errorf("started %v", started)
	}
	h.modifyClaim(claim, func(c *corev1.PersistentVolumeClaim) { c.Finalizers = nil })
	h.bind(h.claim("data", corev1.ReadWriteOnce), t.TempDir(), nil)
	h.until(pod, "the pod succeeds", inPhase(corev1.PodSucceeded))
}

func TestVolumesThatCannotBeUsedHere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*corev1.PersistentVolume)
		want   string
	}{
		"of another node":  {func(pv *corev1.PersistentVolume) { pv.Spec.NodeAffinity = onNode("there") }, "didn't match PersistentVolume's node affinity"},
		"of another claim": {func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef.UID = "other" }, "which is not bound to it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newTestNode(t, newScripted())
			h.startNode(nil)
			h.bind(h.claim("data", corev1.ReadWriteOnce), t.TempDir(), c.change)
			h.untilWaiting(h.create(build("user", []string{"exit", "0"}, usingClaim("data"))), c.want)
		})
	}
}

func TestAReadWriteOncePodClaimIsForOnePod(t *testing.T) {
	t.Parallel()
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	h.bind(h.claim("data", corev1.ReadWriteOncePod), t.TempDir(), nil)
	first := h.create(build("first", []string{"wait"}, usingClaim("data")))
	h.until(first, "the first runs", inPhase(corev1.PodRunning))
	second := h.create(build("second", []string{"wait"}, usingClaim("data")))
	h.untilWaiting(second, "ReadWriteOncePod access mode")

	// A node that starts again knows who has it.
	h.stopNode()
	h.startNode(nil)
	third := h.create(build("third", []string{"exit", "0"}, usingClaim("data")))
	h.untilWaiting(third, "ReadWriteOncePod access mode")
	rt.end(runtime.ID{PodUID: first.UID, Container: "main"}, 0)
	h.eventually("another one runs", func() bool {
		return len(rt.startedOf(second.UID))+len(rt.startedOf(third.UID)) > 0
	}, func() any { return "none" })
	rt.end(runtime.ID{PodUID: second.UID, Container: "main"}, 0)
	h.until(third, "the third ends", inPhase(corev1.PodSucceeded))
	rt.end(runtime.ID{PodUID: second.UID, Container: "main"}, 0)
}

// The data directory may have been moved since the volume was provisioned.
func TestAProvisionedVolumeIsFoundByItsName(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	claim := h.claim("data", corev1.ReadWriteOnce)
	volumes := localvolume.Of(h.dir, nil)
	if err := volumes.Make(t.Context(), "pvc-"+string(claim.UID)); err != nil {
		t.Fatal(err)
	}
	h.bind(claim, "", nil)
	pod := h.create(build("user", []string{"exit", "0"}, func(p *corev1.Pod) {
		usingClaim("data")(p)
		p.Spec.Volumes[0].PersistentVolumeClaim.ReadOnly = true
	}))
	h.until(pod, "the pod succeeds", inPhase(corev1.PodSucceeded))
	want := []runtime.Mount{{HostPath: volumes.Path("pvc-" + string(claim.UID)), ContainerPath: "/data", ReadOnly: true}}
	if diff := cmp.Diff(want, rt.startedOf(pod.UID)[0].Mounts); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}

func TestThePodsGroupGetsAProvisionedVolumeOnly(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to give files to a group")
	}
	for name, provisioned := range map[string]bool{"provisioned": true, "the user's own": false} {
		t.Run(name, func(t *testing.T) {
			h := newTestNode(t, newScripted())
			h.startNode(nil)
			claim := h.claim("data", corev1.ReadWriteOnce)
			dir, path := t.TempDir(), ""
			if provisioned {
				dir = localvolume.Of(h.dir, nil).Path("pvc-" + string(claim.UID))
			} else {
				path = dir
			}
			file := filepath.Join(dir, "file")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			h.bind(claim, path, nil)
			pod := h.create(build("user", []string{"exit", "0"}, func(p *corev1.Pod) {
				usingClaim("data")(p)
				group := int64(4321)
				p.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: &group}
			}))
			h.until(pod, "the pod succeeds", inPhase(corev1.PodSucceeded))
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if shared := info.Mode().Perm() == 0o660; shared != provisioned {
				t.Errorf("its file has the mode %v", info.Mode())
			}
		})
	}
}

func TestAnEphemeralVolumeIsTheClaimOfItsPod(t *testing.T) {
	t.Parallel()
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	template := &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: quantities("storage", "1Gi")},
	}}
	source := corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: template}}
	pod := h.create(build("user", []string{"exit", "0"}, usingVolume(source)))
	h.untilWaiting(pod, `waiting for ephemeral volume controller to create the persistentvolumeclaim "user-data"`)
	claim := h.claim("user-data", corev1.ReadWriteOnce)
	h.bind(claim, t.TempDir(), nil)
	h.untilWaiting(pod, "pod is not owner")
	h.modifyClaim(claim, func(c *corev1.PersistentVolumeClaim) {
		c.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))}
	})
	h.until(pod, "the pod succeeds", inPhase(corev1.PodSucceeded))
}
