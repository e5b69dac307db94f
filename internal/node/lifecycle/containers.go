package lifecycle

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// unknownExitCode is a kubelet's exit code for a container whose exit it has not seen.
const unknownExitCode = 137

// ContainerID returns the containerID of an attempt in a pod's status.
func ContainerID(scheme string, id runtime.ID) string {
	return fmt.Sprintf("%s://%s/%s/%d", scheme, id.PodUID, id.Container, id.Attempt)
}

func (p *plan) containerStatus(c container) corev1.ContainerStatus {
	s := corev1.ContainerStatus{
		Name:    c.spec.Name,
		Image:   c.spec.Image,
		ImageID: imageID(c.Last),
		Ready:   c.ready(),
	}
	if c.role != ephemeral { // as a kubelet reports it
		started := c.started()
		s.Started = &started
	}
	if c.Previous != nil {
		s.LastTerminationState.Terminated = p.terminated(c, c.Previous)
	}
	if c.Last == nil {
		s.State = p.neverStarted(c)
		return s
	}
	s.RestartCount = c.Last.Attempt
	s.ContainerID = ContainerID(p.Host.Runtime, c.Last.ID)
	s.VolumeMounts = p.volumeMounts(c.spec)
	if c.spec.Lifecycle != nil {
		s.StopSignal = c.spec.Lifecycle.StopSignal
	}
	switch {
	case c.Running():
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metaTime(c.Last.StartedAt)}
	case p.waitsToRestart(c):
		s.State.Waiting = p.restartWaiting(c)
		s.LastTerminationState.Terminated = p.terminated(c, c.Last)
	default:
		s.State.Terminated = p.terminated(c, c.Last)
	}
	return s
}

// volumeMounts says how a container's volumes are mounted, and so what has become of IfPossible.
func (p *plan) volumeMounts(c *corev1.Container) []corev1.VolumeMountStatus {
	var all []corev1.VolumeMountStatus
	for _, m := range c.VolumeMounts {
		s := corev1.VolumeMountStatus{Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly}
		if m.ReadOnly {
			recursive := corev1.RecursiveReadOnlyDisabled
			if p.Host.MountsReadOnly && ptr.Deref(m.RecursiveReadOnly, recursive) != recursive {
				recursive = corev1.RecursiveReadOnlyEnabled
			}
			s.RecursiveReadOnly = &recursive
		}
		all = append(all, s)
	}
	return all
}

// waitsToRestart reports whether an exited container will be started again, but not now.
func (p *plan) waitsToRestart(c container) bool {
	switch {
	case p.end != nil, c.role == ephemeral, p.starts(c):
		return false
	case c.outdated:
		return true
	case c.role == initial:
		return !p.initialized() && restartsInit(p.Pod, c.spec, c.Last.ExitCode)
	}
	return c.role == sidecar || c.restarts(p.Pod)
}

func (p *plan) restartWaiting(c container) *corev1.ContainerStateWaiting {
	switch {
	case c.outdated:
		return &corev1.ContainerStateWaiting{Reason: restartingAll, Message: "The container restarts together with all others of the pod"}
	case p.Now.Before(c.Last.FinishedAt.Add(c.backOff())):
		return &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: backOffMessage(p.Pod, c)}
	}
	return p.waiting(c)
}

func (p *plan) starts(c container) bool {
	for _, s := range p.Start {
		if s.Container == c.spec {
			return true
		}
	}
	return false
}

// neverStarted returns the state of a container without an attempt. If the pod was cut short after it was initialized,
// main containers that have not started count as failed.
func (p *plan) neverStarted(c container) corev1.ContainerState {
	if p.Ended && p.end.cutShort && c.role == main && p.anyStarted() && p.initializedOnce() {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: unknownExitCode,
			Reason:   "ContainerStatusUnknown",
			Message:  "The container could not be located when the pod was terminated",
		}}
	}
	return corev1.ContainerState{Waiting: p.waiting(c)}
}

func (p *plan) waiting(c container) *corev1.ContainerStateWaiting {
	if f, ok := p.StartFailures[c.spec.Name]; ok {
		return &corev1.ContainerStateWaiting{Reason: f.Reason, Message: f.Message}
	}
	if p.awaitsTarget(c) {
		return &corev1.ContainerStateWaiting{Reason: "ContainerCreating", Message: fmt.Sprintf("waits until its target container %q runs", c.target)}
	}
	if len(p.Pod.Spec.InitContainers) > 0 && c.role != ephemeral {
		return &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
	}
	return &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
}

func (p *plan) terminated(c container, s *runtime.Status) *corev1.ContainerStateTerminated {
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
		t.Message = "The container was lost together with its host process; its exit code is not known"
	case s.StartError != "":
		t.Reason, t.Message = "StartError", s.StartError
	case s.OOMKilled:
		t.Reason = "OOMKilled"
		if limit, ok := c.spec.Resources.Limits[corev1.ResourceMemory]; ok && t.Message == "" {
			t.Message = "The container needed more memory than its limit of " + limit.String()
		}
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
