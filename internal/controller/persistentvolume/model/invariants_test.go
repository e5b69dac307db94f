package model_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	core "github.com/stint-dev/stint/internal/persistentvolume"
)

// wroteVolume checks what must be true of every write of a volume.
func (w *world) wroteVolume(was, is *corev1.PersistentVolume) {
	if was == nil || is == nil || w.Writer == nil {
		return
	}
	if a, b := claimOf(was), claimOf(is); a != "" && b != "" && a != b {
		w.Fail("volume %s is taken from claim %s and given to %s", is.Name, a, b)
	}
	if a := claimOf(was); a != "" && claimOf(is) == "" && w.bound[a] == is.Name && w.findClaim(a) != nil {
		w.Fail("volume %s is taken from claim %s, which is bound to it", is.Name, a)
	}
}

// wroteClaim checks what must be true of every write of a claim.
func (w *world) wroteClaim(was, is *corev1.PersistentVolumeClaim) {
	if was == nil {
		return
	}
	if slices.Contains(was.Finalizers, core.ClaimProtection) && (is == nil || !slices.Contains(is.Finalizers, core.ClaimProtection)) {
		for _, p := range w.pods.All() {
			// A pod that is bound and not started may still find that its claim is being deleted.
			if p.Status.Phase == corev1.PodRunning && core.Names(p, was) {
				w.Fail("claim %s goes although pod %s uses it", was.Name, p.Name)
			}
		}
	}
	if is == nil || !core.IsBound(is) || core.IsBound(was) {
		return
	}
	v := w.volumes.Find("", is.Spec.VolumeName)
	if v == nil || claimOf(v) != is.UID {
		w.Fail("claim %s is bound to volume %s, which is not bound to it", is.Name, is.Spec.VolumeName)
	}
	if core.IsLocal(v) && !w.made[v.Name] {
		w.Fail("claim %s is bound to volume %s before its directory is made", is.Name, v.Name)
	}
	w.bound[is.UID] = v.Name
}

func claimOf(v *corev1.PersistentVolume) types.UID {
	if v.Spec.ClaimRef == nil {
		return ""
	}
	return v.Spec.ClaimRef.UID
}

func (w *world) findClaim(uid types.UID) *corev1.PersistentVolumeClaim {
	for _, c := range w.claims.All() {
		if c.UID == uid {
			return c
		}
	}
	return nil
}

// mustStay returns why the data of a volume may not be removed now.
func (w *world) mustStay(name string) string {
	v := w.volumes.Find("", name)
	switch {
	case v == nil:
		return "the volume does not exist"
	case v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete:
		return "its policy is " + string(v.Spec.PersistentVolumeReclaimPolicy)
	case !core.IsLocal(v):
		return "it is the user's"
	case claimOf(v) == "":
		return "it has no claim"
	}
	if c := w.findClaim(claimOf(v)); c != nil && w.bound[c.UID] == name {
		return "its claim exists"
	}
	return ""
}

// finishAll ends all faults, ends all pods, waits until nothing happens any more, and checks the result.
func (w *world) finishAll() {
	w.Recover(w.start)
	w.fails = 0
	for _, p := range w.pods.All() {
		w.endPod(p)
	}
	w.settle()
	if before := w.writes(); before != w.settleAgain() {
		w.Fail("writes do not end")
	}
	w.checkBroken()
	for _, c := range w.claims.All() {
		w.checkClaim(c)
	}
	for _, v := range w.volumes.All() {
		w.checkVolume(v)
	}
}

// settle lets an hour go by, so that all that has failed is retried.
func (w *world) settle() {
	for range 6 {
		w.RunUntilIdle()
		w.Pass(10 * time.Minute)
	}
	w.RunUntilIdle()
}

func (w *world) settleAgain() int {
	w.settle()
	return w.writes()
}

// writes is how many versions volumes and claims have had.
func (w *world) writes() int { return w.volumes.Since(0) + w.claims.Since(0) }

func (w *world) checkBroken() {
	if len(w.broken) > 0 {
		w.Fail("%s", strings.Join(w.broken, "\n"))
	}
}

func (w *world) checkClaim(c *corev1.PersistentVolumeClaim) {
	v := w.volumes.Find("", c.Spec.VolumeName)
	agree := v != nil && claimOf(v) == c.UID
	switch {
	case c.DeletionTimestamp != nil:
		w.Fail("claim %s is still being deleted", c.Name)
	case c.Status.Phase == corev1.ClaimBound && (!agree || v.Status.Phase != corev1.VolumeBound):
		w.Fail("claim %s is bound to volume %q, which does not agree", c.Name, c.Spec.VolumeName)
	case c.Status.Phase == corev1.ClaimLost && agree:
		w.Fail("claim %s has not lost volume %s", c.Name, v.Name)
	case c.Status.Phase == corev1.ClaimPending && core.IsBound(c):
		w.Fail("claim %s is bound and pending", c.Name)
	case c.Status.Phase == corev1.ClaimPending && c.Spec.VolumeName == "" && (*c.Spec.StorageClassName == deleting || *c.Spec.StorageClassName == keeping):
		w.Fail("claim %s has no volume", c.Name)
	}
	for _, other := range w.volumes.All() {
		if core.IsAvailable(other) && c.Status.Phase == corev1.ClaimPending && c.Spec.VolumeName == "" && *c.Spec.StorageClassName == "" && fits(other, c) {
			w.Fail("claim %s is not bound to volume %s", c.Name, other.Name)
		}
	}
}

func fits(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	has, wants := v.Spec.Capacity[corev1.ResourceStorage], c.Spec.Resources.Requests[corev1.ResourceStorage]
	return v.Spec.StorageClassName == "" && has.Cmp(wants) >= 0
}

func (w *world) checkVolume(v *corev1.PersistentVolume) {
	c := w.findClaim(claimOf(v))
	bound := c != nil && c.Spec.VolumeName == v.Name
	switch {
	case v.DeletionTimestamp != nil && !bound:
		w.Fail("volume %s is still being deleted", v.Name)
	case claimOf(v) != "" && c == nil && core.IsLocal(v) && v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete:
		w.Fail("volume %s is not reclaimed", v.Name)
	case claimOf(v) != "" && c == nil && v.Status.Phase != corev1.VolumeReleased && v.Status.Phase != corev1.VolumeFailed:
		w.Fail("volume %s has lost its claim and is %s", v.Name, v.Status.Phase)
	case bound && v.Status.Phase != corev1.VolumeBound:
		w.Fail("volume %s is bound and %s", v.Name, v.Status.Phase)
	case claimOf(v) == "" && v.Status.Phase != corev1.VolumeAvailable:
		w.Fail("volume %s has no claim and is %s", v.Name, v.Status.Phase)
	case bound && core.IsLocal(v) && !w.made[v.Name]:
		w.Fail("volume %s has no directory", v.Name)
	}
}

func (w *world) describe() string {
	var b strings.Builder
	for _, v := range w.volumes.All() {
		fmt.Fprintf(&b, "volume %s %s policy=%s claim=%v annotations=%v finalizers=%v deleted=%t\n", v.Name, v.Status.Phase,
			v.Spec.PersistentVolumeReclaimPolicy, v.Spec.ClaimRef, v.Annotations, v.Finalizers, v.DeletionTimestamp != nil)
	}
	for _, c := range w.claims.All() {
		fmt.Fprintf(&b, "claim %s %s %s class=%q volume=%q annotations=%v deleted=%t\n", c.Name, c.UID, c.Status.Phase, *c.Spec.StorageClassName,
			c.Spec.VolumeName, c.Annotations, c.DeletionTimestamp != nil)
	}
	fmt.Fprintf(&b, "directories %v\n", w.made)
	return b.String()
}
