package persistentvolume_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	core "github.com/stint-dev/stint/internal/persistentvolume"
)

func policy(p corev1.PersistentVolumeReclaimPolicy) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Spec.PersistentVolumeReclaimPolicy = p }
}

func local(v *corev1.PersistentVolume) {
	metav1.SetMetaDataAnnotation(&v.ObjectMeta, storagevolume.AnnDynamicallyProvisioned, core.Provisioner)
	v.Spec.Local = &corev1.LocalVolumeSource{}
	v.Finalizers = []string{core.LocalVolumeFinalizer}
}

func foreign(v *corev1.PersistentVolume) {
	metav1.SetMetaDataAnnotation(&v.ObjectMeta, storagevolume.AnnDynamicallyProvisioned, "x")
}

func byController(v *corev1.PersistentVolume) {
	metav1.SetMetaDataAnnotation(&v.ObjectMeta, storagevolume.AnnBoundByController, "yes")
}

func TestWhatHappensToAVolume(t *testing.T) {
	const deletes, retains = corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain
	mine := forClaim("data", "1")
	isBound := inPhase(corev1.VolumeBound)
	const bound, available, released, failed = corev1.VolumeBound, corev1.VolumeAvailable, corev1.VolumeReleased, corev1.VolumeFailed
	type want struct {
		phase                  corev1.PersistentVolumePhase
		unbind, reclaim, letGo bool
	}
	for sentence, c := range map[string]struct {
		volume *corev1.PersistentVolume
		claim  *corev1.PersistentVolumeClaim
		want   want
	}{
		"it names no claim":                            {aVolume("v"), nil, want{phase: available}},
		"it names a claim that is not bound to it yet": {aVolume("v", forClaim("data", "")), nil, want{phase: available}},
		"its claim is being bound":                     {aVolume("v", mine), aClaim(), want{}},
		"its claim is bound to it":                     {aVolume("v", mine), aClaim(naming("v")), want{phase: bound}},
		"its claim is bound to another":                {aVolume("v", mine), aClaim(naming("w")), want{phase: available, unbind: true}},
		"it is deleted before its claim is bound":      {aVolume("v", mine, deleted), aClaim(), want{phase: available, unbind: true}},
		"it is deleted while its claim is bound":       {aVolume("v", mine, local, deleted), aClaim(naming("v")), want{phase: bound}},

		"its claim is gone: Retain":                              {aVolume("v", mine, isBound, local, policy(retains)), nil, want{phase: released}},
		"its claim is gone, Retain, and it is deleted":           {aVolume("v", mine, isBound, local, deleted, policy(retains)), nil, want{phase: released, letGo: true}},
		"its claim is gone: Delete":                              {aVolume("v", mine, isBound, local, policy(deletes)), nil, want{phase: released, reclaim: true}},
		"its removal has failed":                                 {aVolume("v", mine, inPhase(failed), local, policy(deletes)), nil, want{phase: failed, reclaim: true}},
		"its removal has failed, and its policy has changed":     {aVolume("v", mine, inPhase(failed), local, policy(retains)), nil, want{phase: released}},
		"no data of the user's is removed":                       {aVolume("v", mine, isBound, policy(deletes)), nil, want{phase: failed}},
		"another program removes its own":                        {aVolume("v", mine, isBound, foreign, policy(deletes)), nil, want{phase: released}},
		"a path of the user's with the annotation of ours":       {aVolume("v", mine, isBound, func(v *corev1.PersistentVolume) { local(v); v.Spec.Local = nil }, policy(deletes)), nil, want{phase: released}},
		"nothing is recycled":                                    {aVolume("v", mine, isBound, policy(corev1.PersistentVolumeReclaimRecycle)), nil, want{phase: failed}},
		"it was chosen for a claim that was gone before":         {aVolume("v", mine, byController, policy(deletes)), nil, want{phase: available, unbind: true}},
		"it was made for its claim, which has another":           {aVolume("pvc-1", mine, local, policy(deletes)), aClaim(naming("w")), want{phase: released, reclaim: true}},
		"it was made for another claim than that":                {aVolume("pvc-2", mine, local, policy(deletes)), aClaim(naming("w")), want{phase: available, unbind: true}},
		"it was made for its claim and deleted before its use":   {aVolume("pvc-1", mine, local, deleted, policy(deletes)), aClaim(), want{phase: released, reclaim: true}},
		"its claim was taken away and it is deleted: data stays": {aVolume("v", local, deleted, policy(deletes)), nil, want{phase: available, letGo: true}},
	} {
		t.Run(sentence, func(t *testing.T) {
			d := core.DecideVolume(core.VolumeObservation{Volume: c.volume, Claim: c.claim, CanRemove: true})
			if got := (want{d.Phase, d.Unbind, d.Reclaim, d.LetGo}); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if (d.Phase == failed && !d.Reclaim) != (d.Event.Reason == "VolumeFailedDelete") {
				t.Errorf("event %+v", d.Event)
			}
			if here := core.DecideVolume(core.VolumeObservation{Volume: c.volume, Claim: c.claim}); here.Reclaim {
				t.Error("a server without a node removes it")
			}
		})
	}
}

func TestAVolumeIsBoundToNoSecondClaim(t *testing.T) {
	for sentence, c := range map[string]struct {
		volume *corev1.PersistentVolume
		claim  *corev1.PersistentVolumeClaim
		ok     bool
	}{
		"a free volume":                          {aVolume("v"), aClaim(), true},
		"one that names the claim":               {aVolume("v", forClaim("data", "")), aClaim(), true},
		"one of an older claim of the name":      {aVolume("v", forClaim("data", "0")), aClaim(), false},
		"one of another claim":                   {aVolume("v", forClaim("other", "2")), aClaim(), false},
		"one that is being deleted":              {aVolume("v", deleted), aClaim(), false},
		"one that is deleted, of a bound claim":  {aVolume("v", deleted, forClaim("data", "1")), aClaim(naming("v"), bound), true},
		"one that a bound claim was taken from":  {aVolume("v"), aClaim(naming("v"), bound), true},
		"one that is bound to this claim before": {aVolume("v", forClaim("data", "1")), aClaim(), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			if _, err := core.BindVolume(c.volume, c.claim); (err == nil) != c.ok {
				t.Fatal(err)
			}
			if c.ok && c.volume.Spec.ClaimRef.UID != c.claim.UID {
				t.Errorf("it names %v", c.volume.Spec.ClaimRef)
			}
		})
	}
}

func TestAClaimIsBoundToNoSecondVolume(t *testing.T) {
	for sentence, c := range map[string]struct {
		claim *corev1.PersistentVolumeClaim
		ok    bool
	}{
		"a claim without a volume":       {aClaim(), true},
		"one that names the volume":      {aClaim(naming("v")), true},
		"one that names another":         {aClaim(naming("w")), false},
		"one that was bound before":      {aClaim(bound), false},
		"one that is being deleted":      {aClaim(deletedClaim), false},
		"one that is bound to it before": {aClaim(naming("v"), bound), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			if _, err := core.BindClaim(c.claim, aVolume("v")); (err == nil) != c.ok {
				t.Fatal(err)
			}
			if c.ok && (c.claim.Spec.VolumeName != "v" || !core.IsBound(c.claim)) {
				t.Errorf("the claim is %+v", c.claim)
			}
		})
	}
}
