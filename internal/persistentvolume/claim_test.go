package persistentvolume_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	storagevolume "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/persistentvolume"
)

func storage(size string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
}

// aClaim is a claim of 2Gi without a class.
func aClaim(changes ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "data", UID: "1"}}
	c.Spec.StorageClassName = ptr.To("")
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.Spec.Resources.Requests = storage("2Gi")
	for _, change := range changes {
		change(c)
	}
	return c
}

func classed(class string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = &class }
}

func unclassed(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil }

func naming(volume string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = volume }
}

func bound(c *corev1.PersistentVolumeClaim) {
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, storagevolume.AnnBindCompleted, "yes")
}

func deletedClaim(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} }

// aVolume is an available volume of 2Gi without a class.
func aVolume(name string, changes ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	v.Spec.Capacity = storage("2Gi")
	v.Status.Phase = corev1.VolumeAvailable
	for _, change := range changes {
		change(v)
	}
	return v
}

func of(size string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Spec.Capacity = storage(size) }
}

func forClaim(name string, uid types.UID) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "ns", Name: name, UID: uid}
	}
}

func readOnly(v *corev1.PersistentVolume) {
	v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}
}

func block(v *corev1.PersistentVolume) { v.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeBlock) }

func deleted(v *corev1.PersistentVolume) { v.DeletionTimestamp = &metav1.Time{} }

func inPhase(p corev1.PersistentVolumePhase) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Status.Phase = p }
}

func ofNode(name string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.NodeAffinity = core.NewVolume(aClaim(), core.Class{}, core.Place{Node: name}).Spec.NodeAffinity
	}
}

func aClass(provisioner string, mode storagev1.VolumeBindingMode) core.Class {
	return core.Class{Name: "c", Object: &storagev1.StorageClass{Provisioner: provisioner, VolumeBindingMode: &mode}}
}

func TestWhatHappensToAClaim(t *testing.T) {
	const immediate, waits = storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer
	here := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{corev1.LabelHostname: "here"}}}
	volumes := func(all ...*corev1.PersistentVolume) []*corev1.PersistentVolume { return all }
	for sentence, c := range map[string]struct {
		o      core.ClaimObservation
		want   core.ClaimAction
		volume string
		reason string
	}{
		"the smallest volume that fits": {
			o:    core.ClaimObservation{Claim: aClaim(), Candidates: volumes(aVolume("large", of("9Gi")), aVolume("fits", of("3Gi")), aVolume("small", of("1Gi")))},
			want: core.Bind, volume: "fits"},
		"of equal ones, the first by name": {
			o:    core.ClaimObservation{Claim: aClaim(), Candidates: volumes(aVolume("b"), aVolume("a"), aVolume("c"))},
			want: core.Bind, volume: "a"},
		"the one that names the claim, even if another is smaller": {
			o:    core.ClaimObservation{Claim: aClaim(), Candidates: volumes(aVolume("a"), aVolume("mine", of("9Gi"), forClaim("data", "")))},
			want: core.Bind, volume: "mine"},
		"none of another access mode": {
			o: core.ClaimObservation{Claim: aClaim(), Candidates: volumes(aVolume("v", readOnly))}, reason: "FailedBinding"},
		"none of another volume mode": {
			o: core.ClaimObservation{Claim: aClaim(), Candidates: volumes(aVolume("v", block))}, reason: "FailedBinding"},
		"none that is being deleted": {
			o: core.ClaimObservation{Claim: aClaim(), Candidates: volumes(aVolume("v", deleted))}, reason: "FailedBinding"},
		"none that is not available": {
			o: core.ClaimObservation{Claim: aClaim(), Candidates: volumes(aVolume("v", inPhase(corev1.VolumeFailed)))}, reason: "FailedBinding"},
		"none of another claim of the name": {
			o: core.ClaimObservation{Claim: aClaim(), Candidates: volumes(aVolume("v", forClaim("data", "2")))}, reason: "FailedBinding"},
		"none without the labels that it selects": {
			o: core.ClaimObservation{Claim: aClaim(func(c *corev1.PersistentVolumeClaim) {
				c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
			}), Candidates: volumes(aVolume("v"))}, reason: "FailedBinding"},
		"the volume that it names": {
			o:    core.ClaimObservation{Claim: aClaim(naming("v")), Volume: aVolume("v")},
			want: core.Bind, volume: "v"},
		"the volume that it names, which names it": {
			o:    core.ClaimObservation{Claim: aClaim(naming("v")), Volume: aVolume("v", of("1Gi"), forClaim("data", "1"))},
			want: core.Bind, volume: "v"},
		"it names a volume that does not exist": {
			o: core.ClaimObservation{Claim: aClaim(naming("v"))}, reason: "FailedBinding"},
		"it names the volume of another": {
			o: core.ClaimObservation{Claim: aClaim(naming("v")), Volume: aVolume("v", forClaim("other", "2"))}, reason: "FailedBinding"},
		"it names a volume that is being deleted": {
			o: core.ClaimObservation{Claim: aClaim(naming("v")), Volume: aVolume("v", deleted)}, reason: "FailedBinding"},
		"it names a volume that is too small": {
			o: core.ClaimObservation{Claim: aClaim(naming("v")), Volume: aVolume("v", of("1Gi"))}, reason: "VolumeMismatch"},
		"it names a volume of another class": {
			o: core.ClaimObservation{Claim: aClaim(naming("v"), classed("c")), Volume: aVolume("v")}, reason: "VolumeMismatch"},
		"a claim that is deleted gets no volume": {
			o:    core.ClaimObservation{Claim: aClaim(deletedClaim), Candidates: volumes(aVolume("v"))},
			want: core.Ignore},

		"it was bound and its volume is there": {
			o:    core.ClaimObservation{Claim: aClaim(bound, naming("v")), Volume: aVolume("v", forClaim("data", "1"), deleted)},
			want: core.Bind, volume: "v"},
		"it was bound and a user has taken it from its volume": {
			o:    core.ClaimObservation{Claim: aClaim(bound, naming("v")), Volume: aVolume("v")},
			want: core.Bind, volume: "v"},
		"it was bound and its volume is gone": {
			o: core.ClaimObservation{Claim: aClaim(bound, naming("v"))}, want: core.Lose, reason: "ClaimLost"},
		"it was bound and names no volume any more": {
			o: core.ClaimObservation{Claim: aClaim(bound)}, want: core.Lose, reason: "ClaimLost"},
		"it was bound and its volume is another's": {
			o: core.ClaimObservation{Claim: aClaim(bound, naming("v")), Volume: aVolume("v", forClaim("data", "2"))}, want: core.Lose, reason: "ClaimMisbound"},

		"a local class provisions at once": {
			o:    core.ClaimObservation{Claim: aClaim(classed("c")), Class: aClass(core.Provisioner, immediate), CanProvision: true, Node: here},
			want: core.Provision},
		"or for the first consumer": {
			o:      core.ClaimObservation{Claim: aClaim(classed("c")), Class: aClass(core.Provisioner, waits), CanProvision: true, Node: here},
			reason: "WaitForFirstConsumer"},
		"which has come": {
			o:    core.ClaimObservation{Claim: aClaim(classed("c")), Class: aClass(core.Provisioner, waits), CanProvision: true, Node: here, HasConsumer: true},
			want: core.Provision},
		"the node is not registered yet": {
			o: core.ClaimObservation{Claim: aClaim(classed("c")), Class: aClass(core.Provisioner, waits), CanProvision: true, HasConsumer: true}},
		"a volume of this node comes first": {
			o: core.ClaimObservation{Claim: aClaim(classed("c")), Class: aClass(core.Provisioner, waits), CanProvision: true, Node: here, HasConsumer: true,
				Candidates: volumes(aVolume("there", withClass, ofNode("there")), aVolume("here", withClass, ofNode("here")))},
			want: core.Bind, volume: "here"},
		"a volume that names the claim needs no consumer": {
			o: core.ClaimObservation{Claim: aClaim(classed("c")), Class: aClass(core.Provisioner, waits), CanProvision: true, Node: here,
				Candidates: volumes(aVolume("mine", forClaim("data", "")))},
			want: core.Bind, volume: "mine"},
		"a server without a node": {
			o: core.ClaimObservation{Claim: aClaim(classed("c")), Class: aClass(core.Provisioner, immediate)}, reason: "ProvisioningFailed"},
		"a block device": {
			o: core.ClaimObservation{Claim: aClaim(classed("c"), func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeBlock) }),
				Class: aClass(core.Provisioner, immediate), CanProvision: true}, reason: "ProvisioningFailed"},
		"a copy of something": {
			o: core.ClaimObservation{Claim: aClaim(classed("c"), func(c *corev1.PersistentVolumeClaim) { c.Spec.DataSource = &corev1.TypedLocalObjectReference{} }),
				Class: aClass(core.Provisioner, immediate), CanProvision: true}, reason: "ProvisioningFailed"},
		"a class that does not exist": {
			o: core.ClaimObservation{Claim: aClaim(classed("c")), Class: core.Class{Name: "c"}, CanProvision: true}, reason: "ProvisioningFailed"},
		"unless it is served as local": {
			o:    core.ClaimObservation{Claim: aClaim(classed("c")), Class: core.Class{Name: "c", ServedAsLocal: true}, CanProvision: true, HasConsumer: true, Node: here},
			want: core.Provision},
		"then it waits for a consumer": {
			o:      core.ClaimObservation{Claim: aClaim(classed("c")), Class: core.Class{Name: "c", ServedAsLocal: true}, CanProvision: true},
			reason: "WaitForFirstConsumer"},
		"a class of another provisioner": {
			o: core.ClaimObservation{Claim: aClaim(classed("c")), Class: aClass("x", immediate), CanProvision: true}, reason: "ExternalProvisioning"},
		"a class that provisions nothing": {
			o: core.ClaimObservation{Claim: aClaim(classed("c")), Class: aClass("kubernetes.io/no-provisioner", immediate), CanProvision: true}, reason: "ProvisioningFailed"},

		"without a class it gets the default": {
			o: core.ClaimObservation{Claim: aClaim(unclassed), DefaultClass: "d"}, want: core.SetClass},
		"but a volume without a class first": {
			o:    core.ClaimObservation{Claim: aClaim(unclassed), DefaultClass: "d", Candidates: volumes(aVolume("v"))},
			want: core.Bind, volume: "v"},
		"the empty class is never replaced": {
			o: core.ClaimObservation{Claim: aClaim(), DefaultClass: "d"}, reason: "FailedBinding"},
	} {
		t.Run(sentence, func(t *testing.T) {
			d := core.DecideClaim(c.o)
			volume := ""
			if d.Volume != nil {
				volume = d.Volume.Name
			}
			if d.Action != c.want || volume != c.volume || d.Event.Reason != c.reason {
				t.Errorf("%d, volume %q, event %+v; want %d, %q, %q", d.Action, volume, d.Event, c.want, c.volume, c.reason)
			}
		})
	}
}

func withClass(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "c" }

func TestTheNewestDefaultClassCounts(t *testing.T) {
	class := func(name string, second int64, isDefault string) *storagev1.StorageClass {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(second, 0),
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": isDefault}}}
	}
	all := []*storagev1.StorageClass{class("old", 1, "true"), class("b", 2, "true"), class("a", 2, "true"), class("no", 3, "false")}
	if got := core.DefaultClass(all); got != "a" {
		t.Errorf("got %q", got)
	}
	if got := core.DefaultClass(all[3:]); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestLocalClasses(t *testing.T) {
	for _, c := range []struct {
		classes core.LocalClasses
		name    string
		want    bool
	}{{nil, "a", false}, {core.LocalClasses{"a", "b"}, "b", true}, {core.LocalClasses{"a"}, "b", false},
		{core.LocalClasses{"*"}, "b", true}, {core.LocalClasses{"*"}, "", false}} {
		if got := c.classes.Has(c.name); got != c.want {
			t.Errorf("%v have %q: %t", c.classes, c.name, got)
		}
	}
}
