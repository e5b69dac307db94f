package job

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/stint-dev/stint/internal/podstatus"
)

const (
	// PendingTimeout is the condition of a pod that was failed because it had not started within its pending timeout.
	// Pod failure policies can match it.
	PendingTimeout corev1.PodConditionType = "stint.dev/PendingTimeout"
	// PendingTimeoutReason is the reason of such a pod, of the event, and of a Job whose pods cannot be created at all.
	PendingTimeoutReason = "PendingTimeout"
)

// startLimit is how long pods may take until all their containers have started.
//
// The timeout runs from the pod's creation or, if queueing is excluded, from when the node takes the pod off its queue. It
// does not run while an init container runs, and starts again when that has terminated.
type startLimit struct {
	timeout time.Duration
	// excludesQueueing is set if the timeout does not run while the node queues the pod.
	excludesQueueing bool
}

func (v *view) startLimit() startLimit {
	return startLimit{timeout: v.annotations.PendingTimeout, excludesQueueing: v.QueuedPodsAreNotPending && !v.annotations.PendingTimeoutIncludesQueueing}
}

// pendingTooLong returns the pods that have not started within the pending timeout, without those that the plan deletes
// anyway, and how long until the next one is late.
func pendingTooLong(v view, p plan) (late []PendingTooLong, after time.Duration) {
	if v.annotations.PendingTimeout == 0 || v.job.DeletionTimestamp != nil {
		return nil, 0
	}
	deleted := sets.New[types.UID]()
	for _, pod := range slices.Concat(p.deleteWithoutCounting, p.delete) {
		deleted.Insert(pod.UID)
	}
	limit := v.startLimit()
	for _, pod := range v.active {
		left, pending := limit.left(pod, v.Now)
		switch {
		case !pending || deleted.Has(pod.UID):
		case left > 0:
			after = earliest(after, left)
		case len(late) < v.MaxPodCreateDelete:
			reason, message := podstatus.WaitingReason(pod)
			late = append(late, PendingTooLong{Pod: pod, Reason: reason, Message: limit.describe(reason, message), limit: limit})
		}
	}
	return late, after
}

// Fail sets p, the newest version of the pod, to the phase Failed. It reports whether it did: p may have started or
// terminated meanwhile.
func (s PendingTooLong) Fail(p *corev1.Pod, now time.Time) bool {
	left, pending := s.limit.left(p, now)
	if !pending || left > 0 {
		return false
	}
	reason, message := podstatus.WaitingReason(p)
	message = s.limit.describe(reason, message)
	p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, PendingTimeoutReason, message
	p.Status.Conditions = append(slices.DeleteFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == PendingTimeout }),
		corev1.PodCondition{
			Type: PendingTimeout, Status: corev1.ConditionTrue, Reason: reason, Message: message,
			LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)), ObservedGeneration: p.Generation,
		})
	return true
}

func (l startLimit) describe(reason, message string) string {
	if message != "" {
		reason += ": " + message
	}
	return fmt.Sprintf("Not all containers of the pod have started within %s: %s", l.timeout, reason)
}

// left returns what is left of the timeout of p, and whether it runs.
func (l startLimit) left(p *corev1.Pod, now time.Time) (left time.Duration, pending bool) {
	if podstatus.IsTerminated(p) || p.DeletionTimestamp != nil || podstatus.AllStarted(p) || l.excludesQueueing && isQueued(p) {
		return 0, false
	}
	since := p.CreationTimestamp.Time
	if l.excludesQueueing && p.Status.StartTime != nil {
		since = later(since, p.Status.StartTime.Time)
	}
	for _, s := range podstatus.InitContainers(p) {
		if s.State.Running != nil {
			return 0, false
		}
		for _, end := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
			if end != nil {
				since = later(since, end.FinishedAt.Time)
			}
		}
	}
	// Times in the API are cut to whole seconds. A second more makes sure that no pod has less than its timeout.
	return since.Add(time.Second + l.timeout).Sub(now), true
}

// isQueued reports whether p waits only in the queue of its node, as far as its status says. A pod that can never fit is
// Unschedulable instead.
func isQueued(p *corev1.Pod) bool {
	if p.Status.StartTime != nil || len(p.Spec.SchedulingGates) > 0 {
		return false
	}
	c := podstatus.Condition(p, corev1.PodScheduled)
	if c == nil {
		return p.Spec.NodeName == ""
	}
	return c.Status == corev1.ConditionFalse && c.Reason != corev1.PodReasonUnschedulable
}
