package results

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
)

// Of returns the result of a pod, as far as its status has it.
func Of(p *corev1.Pod) stintv1.PodResult {
	c, t := decisiveContainer(p)
	r := stintv1.PodResult{
		Pod: p.Name, UID: p.UID, Index: indexOf(p), Node: p.Spec.NodeName,
		Phase:      cmp.Or(p.Status.Phase, corev1.PodPending),
		Restarts:   restarts(p),
		Container:  c.Name,
		Reason:     reason(p, c, t),
		Message:    message(p, c, t),
		CreatedAt:  timeOrNil(p.CreationTimestamp),
		StartedAt:  timeOrNil(startedAt(p)),
		FinishedAt: timeOrNil(finishedAt(p)),
	}
	if t != nil {
		r.ExitCode, r.Signal = ptr.To(t.ExitCode), signal(t)
	}
	return r
}

func indexOf(p *corev1.Pod) *int32 {
	if _, indexed := p.Annotations[batchv1.JobCompletionIndexAnnotation]; !indexed {
		return nil
	}
	i := core.IndexOf(p)
	if i < 0 {
		return nil
	}
	return ptr.To(int32(i))
}

// restarts counts the restarts of all containers, as backoffLimit does.
func restarts(p *corev1.Pod) (n int32) {
	for s := range podstatus.Containers(p) {
		n += s.RestartCount
	}
	return n
}

// decisiveContainer returns the container that best explains how the pod ended, and how that container terminated, if it
// has: the first that failed, main containers before init containers, else the first main container.
func decisiveContainer(p *corev1.Pod) (*corev1.ContainerStatus, *corev1.ContainerStateTerminated) {
	main := inOrder(p.Spec.Containers, p.Status.ContainerStatuses)
	for _, c := range slices.Concat(main, inOrder(p.Spec.InitContainers, p.Status.InitContainerStatuses)) {
		if t := ended(c); t != nil && t.ExitCode != 0 {
			return c, t
		}
	}
	if len(main) == 0 {
		return &corev1.ContainerStatus{}, nil
	}
	return main[0], ended(main[0])
}

// inOrder returns the states of containers in the order of the spec; nodes report them in any order. Sidecars are left out:
// they are stopped when the others have terminated, and their exit code does not matter.
func inOrder(containers []corev1.Container, states []corev1.ContainerStatus) (out []*corev1.ContainerStatus) {
	for i := range containers {
		if ptr.Deref(containers[i].RestartPolicy, "") == corev1.ContainerRestartPolicyAlways {
			continue
		}
		out = append(out, stateOf(containers[i].Name, states))
	}
	return out
}

func stateOf(name string, states []corev1.ContainerStatus) *corev1.ContainerStatus {
	for i := range states {
		if states[i].Name == name {
			return &states[i]
		}
	}
	return &corev1.ContainerStatus{Name: name}
}

// ended returns how a container terminated, also if it waits to be started again; nil if it runs or never ran.
func ended(s *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if s.State.Terminated != nil || s.State.Running != nil {
		return s.State.Terminated
	}
	return s.LastTerminationState.Terminated
}

// maxSignal is the highest number of a signal.
const maxSignal = 64

func signal(t *corev1.ContainerStateTerminated) int32 {
	if t.Signal == 0 && t.ExitCode > 128 && t.ExitCode <= 128+maxSignal {
		return t.ExitCode - 128
	}
	return max(0, t.Signal)
}

// reason is that of the pod if it was evicted, disrupted or failed by a controller, else that of the container.
func reason(p *corev1.Pod, c *corev1.ContainerStatus, t *corev1.ContainerStateTerminated) string {
	if r := cmp.Or(p.Status.Reason, disruption(p).Reason); r != "" {
		return r
	}
	if t == nil {
		t = &corev1.ContainerStateTerminated{}
	}
	return cmp.Or(waitingState(p, c).Reason, t.Reason)
}

func message(p *corev1.Pod, c *corev1.ContainerStatus, t *corev1.ContainerStateTerminated) string {
	if t == nil {
		t = &corev1.ContainerStateTerminated{}
	}
	return cmp.Or(t.Message, p.Status.Message, waitingState(p, c).Message, disruption(p).Message)
}

// waitingState returns why a pod or its container does not start, or not start again; empty if it does.
func waitingState(p *corev1.Pod, c *corev1.ContainerStatus) corev1.ContainerStateWaiting {
	switch {
	case podstatus.IsTerminal(p.Status.Phase):
		return corev1.ContainerStateWaiting{}
	case c.State.Waiting != nil:
		return *c.State.Waiting
	}
	unscheduled := ptr.Deref(podstatus.Unscheduled(p), corev1.PodCondition{})
	return corev1.ContainerStateWaiting{Reason: unscheduled.Reason, Message: unscheduled.Message}
}

func disruption(p *corev1.Pod) corev1.PodCondition {
	return ptr.Deref(podstatus.ConditionIs(p, corev1.DisruptionTarget, corev1.ConditionTrue), corev1.PodCondition{})
}

func timeOrNil(t metav1.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
