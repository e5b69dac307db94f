package persistentvolume_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/stint-dev/stint/internal/controller/persistentvolume"
	core "github.com/stint-dev/stint/internal/persistentvolume"
)

func TestALocalVolumeIsProvisionedForTheFirstConsumer(t *testing.T) {
	w := start(t)
	w.claim("data", "local")
	w.told("WaitForFirstConsumer: waiting for first consumer to be created before binding")
	w.user("gated", "data", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/later"}} })
	if w.claim("late", "local"); w.getClaim("data").Spec.VolumeName != "" {
		t.Error("it is bound without a consumer")
	}
	w.user("user", "data")
	c, v := w.bound("data")
	w.told("ProvisioningSucceeded: Successfully provisioned volume " + v.Name)
	if v.Name != "pvc-"+string(c.UID) || v.Spec.Local.Path != w.Path(v.Name) || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		t.Errorf("provisioned %+v", v)
	}
	if !slices.Contains(v.Finalizers, core.LocalVolumeFinalizer) || !slices.Contains(v.Finalizers, core.VolumeProtection) {
		t.Errorf("finalizers %v", v.Finalizers)
	}
	if err := storagevolume.CheckNodeAffinity(v, map[string]string{corev1.LabelHostname: node}); err != nil {
		t.Error(err)
	}
	if by := c.Annotations[storagevolume.AnnStorageProvisioner]; by != core.Provisioner {
		t.Errorf("provisioned by %q", by)
	}
	if got := w.names(t); !slices.Equal(got, []string{v.Name}) {
		t.Errorf("directories %v", got)
	}
}

func TestAClassThatDoesNotWaitProvisionsAtOnce(t *testing.T) {
	w := start(t)
	w.class("now", core.Provisioner, retained)
	w.claim("data", "now")
	if _, v := w.bound("data"); v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain || v.Spec.StorageClassName != "now" {
		t.Errorf("provisioned %+v", v.Spec)
	}
}

func TestAnEphemeralVolumeHasAClaimOfItsPod(t *testing.T) {
	w := start(t)
	p := w.pod("p", func(p *corev1.Pod) { p.Spec.Volumes = []corev1.Volume{ephemeral("scratch", "local")} })
	c, _ := w.bound("p-scratch")
	if owner := c.OwnerReferences[0]; owner.UID != p.UID || !*owner.Controller || !*owner.BlockOwnerDeletion {
		t.Errorf("the claim is %+v", c.ObjectMeta)
	}
	w.deleteClaim(c)
	w.phases("p-scratch", "Bound", "pvc-"+string(c.UID), "gone") // The pod has no node yet: it gets a new claim.
}

func TestAClaimThatIsNotOfThePodIsNoEphemeralVolume(t *testing.T) {
	w := start(t)
	foreign := w.claim("p-scratch", "local")
	w.pod("p", func(p *corev1.Pod) { p.Spec.Volumes = []corev1.Volume{ephemeral("scratch", "local")} })
	w.told(`FailedBinding: ephemeral volume scratch: PVC default/p-scratch was not created for pod default/p (pod is not owner)` +
		`; delete that claim, or name the volume otherwise`)
	w.phases("p-scratch", "Pending", "none", "gone")
	w.deleteClaim(foreign)
	w.bound("p-scratch")
}

func ephemeral(name, class string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
		VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
			Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{Requests: storage("1Gi")}}}}}}
}

func TestAVolumeThatExistsIsTakenBeforeOneIsProvisioned(t *testing.T) {
	w := start(t)
	elsewhere := func(v *corev1.PersistentVolume) {
		v.Spec.NodeAffinity = core.NewVolume(&corev1.PersistentVolumeClaim{}, core.Class{}, core.Place{Node: "elsewhere"}).Spec.NodeAffinity
	}
	local := func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "local" }
	w.volume("elsewhere", local, elsewhere)
	w.volume("here", local)
	w.phases("no-claim", "gone", "elsewhere", "Available")
	w.phases("no-claim", "gone", "here", "Available")
	w.user("user", "data")
	w.claim("data", "local")
	if _, v := w.bound("data"); v.Name != "here" {
		t.Errorf("bound to %s", v.Name)
	}
	w.user("next", "more")
	w.claim("more", "local")
	if _, v := w.bound("more"); !core.IsLocal(v) {
		t.Errorf("bound to %s", v.Name)
	}
}

func TestClassesOfOtherProvisioners(t *testing.T) {
	w := start(t, "served", "missing")
	w.class("fast", "ebs.csi.aws.com", immediate)
	w.class("served", "ebs.csi.aws.com", immediate)
	w.class("by-hand", "kubernetes.io/no-provisioner", immediate)
	w.claim("served", "served")
	w.claim("missing", "missing")
	w.user("user", "missing")
	w.bound("served")
	w.bound("missing")

	w.claim("fast", "fast")
	w.told(`ExternalProvisioning: Waiting for a volume to be created by the external provisioner "ebs.csi.aws.com"; ` +
		`start the server with --local-storage-classes fast to serve the class with local directories`)
	w.phases("fast", "Pending", "none", "gone")
	if by := w.getClaim("fast").Annotations[storagevolume.AnnStorageProvisioner]; by != "ebs.csi.aws.com" {
		t.Errorf("to be provisioned by %q", by)
	}
	w.claim("absent", "absent")
	w.told(`ProvisioningFailed: storageclass.storage.k8s.io "absent" not found; ` +
		`start the server with --local-storage-classes absent to serve the class with local directories`)
	w.claim("by-hand", "by-hand")
	w.told(`ProvisioningFailed: no persistent volume of storage class "by-hand" fits this claim, and the class makes none; create one`)

	w.class("absent", core.Provisioner, immediate)
	w.bound("absent")
}

func TestAllClassesMayBeServed(t *testing.T) {
	w := start(t, "*")
	w.claim("data", "gp3")
	w.user("user", "data")
	w.bound("data")
	w.claim("none", "")
	w.told("FailedBinding: no persistent volumes available for this claim and no storage class is set")
}

func TestAClaimWithoutAClassGetsTheDefaultThatComesLater(t *testing.T) {
	const isDefault = "storageclass.kubernetes.io/is-default-class"
	w := start(t)
	local := get(w, w.StorageClasses(), "", "local")
	w.put(w.StorageClasses().Modify(t.Context(), local, func(c *storagev1.StorageClass) { delete(c.Annotations, isDefault) }))
	w.claim("data", "none")
	w.claim("never", "")
	w.told("FailedBinding: no persistent volumes available for this claim and no storage class is set")
	w.user("user", "data")
	w.put(w.StorageClasses().Modify(t.Context(), local, func(c *storagev1.StorageClass) { c.Annotations = map[string]string{isDefault: "true"} }))
	if c, _ := w.bound("data"); *c.Spec.StorageClassName != "local" {
		t.Errorf("class %q", *c.Spec.StorageClassName)
	}
	w.phases("never", "Pending", "none", "gone")
}

func TestAServerWithoutANodeMakesNoVolumes(t *testing.T) {
	w := open(t)
	w.control(persistentvolume.Options{})
	w.claim("data", "local")
	w.user("user", "data")
	w.told("ProvisioningFailed: this server has no node, so it makes no volumes")
	w.phases("data", "Pending", "none", "gone")
}
