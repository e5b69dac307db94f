package lifecycle

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// unknownExitCode stands for the exit code of a container whose end nobody saw.
const unknownExitCode = 137

// ContainerID is the id of an attempt in a pod's status.
func ContainerID(scheme string, id runtime.ID) string {
	return fmt.Sprintf("%s://%s/%s/%d", scheme, id.PodUID, id.Container, id.Attempt)
}

func (p *plan) containerStatus(u container) corev1.ContainerStatus {
	running := u.Running()
	s := corev1.ContainerStatus{
		Name:    u.c.Name,
		Image:   u.c.Image,
		ImageID: imageID(u.Last),
		Ready:   running,
		Started: &running,
	}
	if u.role == initial {
		s.Ready = u.Exited() && u.Last.ExitCode == 0
	}
	if u.Previous != nil {
		s.LastTerminationState.Terminated = p.terminated(u.Previous)
	}
	if u.Last == nil {
		s.State = p.neverStarted(u)
		return s
	}
	s.RestartCount = u.Last.Attempt
	s.ContainerID = ContainerID(p.Host.Runtime, u.Last.ID)
	switch {
	case running:
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metaTime(u.Last.StartedAt)}
	case p.waitsToRestart(u):
		s.State.Waiting = p.restartWaiting(u)
		s.LastTerminationState.Terminated = p.terminated(u.Last)
	default:
		s.State.Terminated = p.terminated(u.Last)
	}
	return s
}

// waitsToRestart tells whether an ended container will be started again, only later.
func (p *plan) waitsToRestart(u container) bool {
	if p.end != nil || u.role == initial && (p.initialized() || !restartsInit(p.Pod, u.c, u.Last.ExitCode)) {
		return false
	}
	if u.role == main && !restarts(p.Pod, u.c, u.Last.ExitCode) {
		return false
	}
	return !p.starts(u)
}

func (p *plan) restartWaiting(u container) *corev1.ContainerStateWaiting {
	if p.Now.Before(u.Last.FinishedAt.Add(u.backOff())) {
		return &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: backOffMessage(p.Pod, u)}
	}
	return p.waiting(u)
}

func (p *plan) starts(u container) bool {
	for _, s := range p.Start {
		if s.Container == u.c {
			return true
		}
	}
	return false
}

// neverStarted is the state of a container without an attempt. Once a pod has been cut off after it was
// initialized, what did not start counts as failed.
func (p *plan) neverStarted(u container) corev1.ContainerState {
	if p.Ended && p.end.cutShort && u.role == main && p.anyStarted() && p.initializedOnce() {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: unknownExitCode,
			Reason:   "ContainerStatusUnknown",
			Message:  "The container could not be located when the pod was terminated",
		}}
	}
	return corev1.ContainerState{Waiting: p.waiting(u)}
}

func (p *plan) waiting(u container) *corev1.ContainerStateWaiting {
	if h, ok := p.StartFailures[u.c.Name]; ok {
		return &corev1.ContainerStateWaiting{Reason: h.Reason, Message: h.Message}
	}
	if len(p.Pod.Spec.InitContainers) > 0 {
		return &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
	}
	return &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
}

func (p *plan) terminated(s *runtime.Status) *corev1.ContainerStateTerminated {
	t := &corev1.ContainerStateTerminated{
		ExitCode:    s.ExitCode,
		Signal:      s.Signal,
		Message:     s.TerminationMessage,
		StartedAt:   metaTime(s.StartedAt),
		FinishedAt:  metaTime(s.FinishedAt),
		ContainerID: ContainerID(p.Host.Runtime, s.ID),
	}
	switch {
	case s.Lost:
		t.Reason, t.ExitCode = "ContainerStatusUnknown", unknownExitCode
		t.Message = "The container was lost together with the process that held it; its exit code is not known"
	case s.StartError != "":
		t.Reason, t.Message = "StartError", s.StartError
	case s.OOMKilled:
		t.Reason = "OOMKilled"
	case s.ExitCode == 0:
		t.Reason = "Completed"
	default:
		t.Reason = "Error"
	}
	return t
}

func imageID(s *runtime.Status) string {
	if s == nil {
		return ""
	}
	return s.ImageID
}
