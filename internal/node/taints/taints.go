// Package taints decides which pods the taints of a node block, and which they evict.
package taints

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
)

// Of lists the taints of a node. A node that is cordoned or under disk pressure has those that kube-controller-manager
// gives it.
func Of(node *corev1.Node) []corev1.Taint {
	listed := slices.Clone(node.Spec.Taints)
	if node.Spec.Unschedulable {
		listed = append(listed, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	if DiskPressure(node) != "" {
		listed = append(listed, corev1.Taint{Key: corev1.TaintNodeDiskPressure, Effect: corev1.TaintEffectNoSchedule})
	}
	return listed
}

// DiskPressure returns the message of the Node's condition DiskPressure; empty if there is no pressure.
func DiskPressure(node *corev1.Node) string {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeDiskPressure && c.Status == corev1.ConditionTrue {
			return cmp.Or(c.Message, c.Reason, string(c.Type))
		}
	}
	return ""
}

// FindBlockingTaint returns the first taint that keeps a pod from starting. NoSchedule is for the scheduler, which a
// pod that names its node bypasses.
func FindBlockingTaint(taints []corev1.Taint, pod *corev1.PodSpec) (first corev1.Taint, ok bool) {
	for _, t := range taints {
		blocks := t.Effect == corev1.TaintEffectNoExecute || t.Effect == corev1.TaintEffectNoSchedule && pod.NodeName == ""
		if blocks && toleration(pod, &t) == nil {
			return t, true
		}
	}
	return corev1.Taint{}, false
}

// FindEvictingTaint returns the NoExecute taint that a pod tolerates for the shortest time, and for how long it does. Ok is
// false where the pod may stay.
func FindEvictingTaint(taints []corev1.Taint, pod *corev1.PodSpec) (first corev1.Taint, after time.Duration, ok bool) {
	for _, t := range taints {
		if t.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		limit, limited := tolerated(pod, &t)
		if limited && (!ok || limit < after) {
			first, after, ok = t, limit, true
		}
	}
	return first, after, ok
}

// tolerated returns how long the pod tolerates the taint. Limited is false if it does so for ever.
func tolerated(pod *corev1.PodSpec, t *corev1.Taint) (limit time.Duration, limited bool) {
	matching := toleration(pod, t)
	if matching == nil {
		return 0, true
	}
	if matching.TolerationSeconds == nil {
		return 0, false
	}
	seconds := min(max(*matching.TolerationSeconds, 0), int64(math.MaxInt64/time.Second))
	return time.Duration(seconds) * time.Second, true
}

// toleration returns the first of the pod's tolerations that matches. As in kube-controller-manager, those after it do
// not count.
func toleration(pod *corev1.PodSpec, t *corev1.Taint) *corev1.Toleration {
	for i := range pod.Tolerations {
		if pod.Tolerations[i].ToleratesTaint(logr.Discard(), t, true) {
			return &pod.Tolerations[i]
		}
	}
	return nil
}
