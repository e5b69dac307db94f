package podstatus

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// TerminatedAt returns when p terminated, by the best that its status has: when its last container did, else when it
// became not ready, else when its deletion was asked for, else when it was created.
func TerminatedAt(p *corev1.Pod) time.Time {
	if at := containersTerminatedAt(p); !at.IsZero() {
		return at
	}
	if c := ConditionIs(p, corev1.PodReady, corev1.ConditionFalse); c != nil && !c.LastTransitionTime.IsZero() {
		return c.LastTransitionTime.Time
	}
	if at := DeletedAt(p); !at.IsZero() {
		return at
	}
	return p.CreationTimestamp.Time
}

// DeletedAt returns when the deletion of p was asked for, zero if it was not. The deletion timestamp itself is later, by
// the grace period.
func DeletedAt(p *corev1.Pod) time.Time {
	if p.DeletionTimestamp == nil {
		return time.Time{}
	}
	return p.DeletionTimestamp.Add(-time.Duration(ptr.Deref(p.DeletionGracePeriodSeconds, 0)) * time.Second)
}

// containersTerminatedAt returns when the last container terminated, sidecars included; zero unless all have.
func containersTerminatedAt(p *corev1.Pod) time.Time {
	last := time.Time{}
	for _, list := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, Sidecars(p)} {
		for i := range list {
			end := list[i].State.Terminated
			if end == nil || end.FinishedAt.IsZero() {
				return time.Time{}
			}
			if end.FinishedAt.After(last) {
				last = end.FinishedAt.Time
			}
		}
	}
	return last
}
