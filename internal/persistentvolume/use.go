package persistentvolume

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/ephemeral"

	"github.com/stint-dev/stint/internal/podstatus"
)

// ClaimsOf returns the names of the claims that a pod names, also those of its ephemeral volumes. It is nil for a pod without
// claims.
func ClaimsOf(p *corev1.Pod) (names []string) {
	for i := range p.Spec.Volumes {
		if name := ClaimOf(p, &p.Spec.Volumes[i]); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// UsesClaims reports whether a pod names any claim.
func UsesClaims(p *corev1.Pod) bool {
	for i := range p.Spec.Volumes {
		if v := &p.Spec.Volumes[i]; v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			return true
		}
	}
	return false
}

// ClaimOf returns the name of the claim that a volume of a pod is; empty if it is none.
func ClaimOf(p *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return ephemeral.VolumeClaimName(p, v)
	}
	return ""
}

// Names reports whether a pod names the claim. An ephemeral volume names only the claim that was made for the pod.
func Names(p *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	if p.Namespace != claim.Namespace {
		return false
	}
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if ClaimOf(p, v) == claim.Name && (v.Ephemeral == nil || ephemeral.VolumeIsForPod(p, claim) == nil) {
			return true
		}
	}
	return false
}

// IsConsumer reports whether a pod that names a claim is a reason to provision a volume for it.
func IsConsumer(p *corev1.Pod) bool {
	return !podstatus.IsTerminated(p) && p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0
}

// Protects reports whether a pod keeps the claims that it names: it has a node, and has not terminated.
func Protects(p *corev1.Pod) bool {
	return p.Spec.NodeName != "" && !podstatus.IsTerminated(p)
}
