package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podstatus"
)

// RestoreHistory adds to known, which the runtime has reported, the containers that only the pod's stored status shows.
// If the status shows one as running, it is lost: the runtime no longer has it, for example because the machine was
// restarted.
func RestoreHistory(pod *corev1.Pod, known map[string]History) {
	for s := range podstatus.EveryContainer(&pod.Status) {
		if _, ok := known[s.Name]; ok {
			continue
		}
		if h := restoreHistory(pod, s); h.Last != nil {
			known[s.Name] = h
		}
	}
}

func restoreHistory(pod *corev1.Pod, s *corev1.ContainerStatus) History {
	attempt := runtime.Status{
		ID:           runtime.ID{PodUID: pod.UID, Container: s.Name, Attempt: s.RestartCount},
		PodNamespace: pod.Namespace,
		PodName:      pod.Name,
		State:        runtime.Exited,
	}
	var h History
	ended := s.State.Terminated
	switch {
	case ended == nil && s.State.Waiting != nil:
		// The container waits for its restart: only the last termination is known.
		ended = s.LastTerminationState.Terminated
	case s.State.Running != nil:
		attempt.StartedAt = s.State.Running.StartedAt.Time
		attempt.FinishedAt = attempt.StartedAt
		attempt.ExitCode, attempt.Lost = unknownExitCode, true
		h.Add(attempt, time.Time{})
		return h
	}
	if ended == nil {
		return h
	}
	attempt.StartedAt, attempt.FinishedAt = ended.StartedAt.Time, ended.FinishedAt.Time
	attempt.ExitCode, attempt.Signal = ended.ExitCode, ended.Signal
	attempt.OOMKilled = ended.Reason == "OOMKilled"
	attempt.Lost = ended.Reason == "ContainerStatusUnknown"
	if ended.Reason == "StartError" {
		attempt.StartError = ended.Message
	} else {
		attempt.TerminationMessage = ended.Message
	}
	h.Add(attempt, time.Time{})
	return h
}

// RestoreStartTime returns when a pod of an earlier run of the node was started; zero for a new pod. The stored time is cut to
// whole seconds. The end of its second makes sure that the pod has no less than its activeDeadlineSeconds, and is reported as
// the same time. A pod that has exceeded them already stays so.
func RestoreStartTime(pod *corev1.Pod, known map[string]History) (start time.Time) {
	switch stored := pod.Status.StartTime; {
	case stored != nil && pod.Status.Reason == deadlineExceededReason:
		return stored.Time
	case stored != nil:
		return stored.Add(time.Second - time.Nanosecond)
	}
	for _, h := range known {
		for _, s := range []*runtime.Status{h.Last, h.Previous} {
			if s != nil && (start.IsZero() || s.StartedAt.Before(start)) {
				start = s.StartedAt
			}
		}
	}
	return start
}
