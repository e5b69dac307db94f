package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/podstatus"
)

// Merge returns the status to write where decided is what Decide reported and stored is what the API server has.
// Conditions of other clients stay, ours keep their transition time unless their status changes, and a final status
// stays as it is.
func Merge(stored, decided corev1.PodStatus, now time.Time) corev1.PodStatus {
	if podstatus.IsTerminal(stored.Phase) {
		return stored
	}
	merged := *decided.DeepCopy()
	merged.Conditions = mergeConditions(stored.Conditions, decided.Conditions, now)
	if stored.StartTime != nil {
		merged.StartTime = stored.StartTime
	}
	merged.NominatedNodeName = stored.NominatedNodeName
	return merged
}

// WaitingForTurn is the reason of the condition PodScheduled of a pod that can start once others have terminated. A pod
// that can never start here is Unschedulable.
const WaitingForTurn = "WaitingForTurn"

// UnscheduledCondition returns the condition PodScheduled of a pod that may not start yet.
func UnscheduledCondition(generation int64, reason, message string) corev1.PodCondition {
	return corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message, ObservedGeneration: generation,
	}
}

// WithCondition returns the status with one condition set. A final status stays as it is.
func WithCondition(stored corev1.PodStatus, condition corev1.PodCondition, now time.Time) corev1.PodStatus {
	if podstatus.IsTerminal(stored.Phase) {
		return stored
	}
	changed := *stored.DeepCopy()
	changed.Conditions = mergeConditions(stored.Conditions, []corev1.PodCondition{condition}, now)
	return changed
}

func mergeConditions(stored, ours []corev1.PodCondition, now time.Time) []corev1.PodCondition {
	merged := make([]corev1.PodCondition, 0, len(stored)+len(ours))
	for _, c := range ours {
		c.LastTransitionTime = metaTime(now)
		if old := find(stored, c.Type); old != nil && old.Status == c.Status && !old.LastTransitionTime.IsZero() {
			c.LastTransitionTime = old.LastTransitionTime
		}
		merged = append(merged, c)
	}
	for _, c := range stored {
		if find(ours, c.Type) == nil {
			merged = append(merged, c)
		}
	}
	return merged
}

func find(conditions []corev1.PodCondition, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}
