package scenario_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// nodeName is the scripted node. It does with pods what a kubelet does, and reports it, when the scenario says so.
const nodeName = "scripted"

// longAgo is longer than any delay.
const longAgo = time.Hour

// exitsWith ends pods with this exit code of each container, main containers first.
func (l podList) exitsWith(codes ...int32) {
	l.scene().Helper()
	l.each(func(p pod) error {
		return p.end(1, time.Now().Add(-longAgo), func(s *corev1.PodStatus) { setExitCodes(s, codes) })
	})
}

func setExitCodes(s *corev1.PodStatus, codes []int32) {
	for i := range s.ContainerStatuses {
		s.ContainerStatuses[i].State.Terminated.ExitCode = codes[i]
	}
}

// endsWith makes pods fail so long ago that no delay is left. At last, change changes their status.
func (l podList) endsWith(change func(*corev1.PodStatus)) {
	l.scene().Helper()
	l.each(func(p pod) error { return p.end(1, time.Now().Add(-longAgo), change) })
}

func (p pod) bind() error {
	now, err := p.get()
	if err != nil || now.Spec.NodeName != "" {
		return err
	}
	return p.scene.api.CoreV1().Pods(p.Namespace).Bind(p.scene.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: nodeName},
	}, metav1.CreateOptions{})
}

func (p pod) run() error { return p.start(true) }

// initialize starts the pods' init containers.
func (l podList) initialize() podList { l.scene().Helper(); return l.each(pod.initialize) }

func (p pod) initialize() error {
	if err := p.bind(); err != nil {
		return err
	}
	return p.report(func(s *corev1.PodStatus) {
		now := metav1.Now()
		s.Phase, s.StartTime = corev1.PodPending, &now
		setContainers(p.Pod, s, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}})
		for _, c := range p.Spec.InitContainers {
			s.InitContainerStatuses = append(s.InitContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image,
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}, Started: ptr.To(true)})
		}
	})
}

func (p pod) runUnready() error { return p.start(false) }

func (p pod) start(isReady bool) error {
	if err := p.bind(); err != nil {
		return err
	}
	return p.report(func(s *corev1.PodStatus) {
		now := metav1.Now()
		s.Phase, s.StartTime = corev1.PodRunning, &now
		setReady(s, isReady)
		setContainers(p.Pod, s, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}})
	})
}

func (p pod) restart(n int32) error {
	return p.report(func(s *corev1.PodStatus) {
		for i := range s.ContainerStatuses {
			c := &s.ContainerStatuses[i]
			c.RestartCount = n
			c.LastTerminationState.Terminated = terminated(1, time.Now())
		}
	})
}

// end reports the end of the containers, and removes the pod if it was deleted. At last, change changes the status.
func (p pod) end(code int32, at time.Time, change func(*corev1.PodStatus)) error {
	now, err := p.get()
	if err != nil {
		return err
	}
	if now.DeletionTimestamp == nil {
		if err := p.bind(); err != nil {
			return err
		}
	}
	err = p.report(func(s *corev1.PodStatus) {
		s.Phase = corev1.PodSucceeded
		if code != 0 {
			s.Phase = corev1.PodFailed
		}
		end := terminated(code, at)
		if s.StartTime == nil {
			s.StartTime = &end.StartedAt
		}
		setReady(s, false)
		setContainers(p.Pod, s, corev1.ContainerState{Terminated: end})
		change(s)
	})
	if err != nil {
		return fmt.Errorf("ending pod %s: %w", p.Name, err)
	}
	return p.removeIfTold()
}

// exit is end with the same exit code of all containers.
func (p pod) exit(code int32, at time.Time) error {
	return p.end(code, at, func(*corev1.PodStatus) {})
}

func (p pod) removeIfTold() error {
	now, err := p.get()
	if err != nil || now.DeletionTimestamp == nil {
		return ignoreGone(err)
	}
	return p.delete(ptr.To[int64](0))
}

func setReady(s *corev1.PodStatus, is bool) {
	status := corev1.ConditionFalse
	if is {
		status = corev1.ConditionTrue
	}
	setCondition(s, corev1.PodInitialized, corev1.ConditionTrue, "")
	setCondition(s, corev1.ContainersReady, status, "")
	setCondition(s, corev1.PodReady, status, "")
}

func setCondition(s *corev1.PodStatus, kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) {
	want := corev1.PodCondition{Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.Now()}
	for i, c := range s.Conditions {
		if c.Type == kind {
			if c.Status != status {
				s.Conditions[i] = want
			}
			return
		}
	}
	s.Conditions = append(s.Conditions, want)
}

func setContainers(p *corev1.Pod, s *corev1.PodStatus, state corev1.ContainerState) {
	restarts := map[string]int32{}
	for _, c := range s.ContainerStatuses {
		restarts[c.Name] = c.RestartCount
	}
	s.ContainerStatuses = nil
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, State: *state.DeepCopy(), RestartCount: restarts[c.Name],
			Ready: state.Running != nil, Started: ptr.To(state.Running != nil),
		})
	}
}

func terminated(code int32, when time.Time) *corev1.ContainerStateTerminated {
	at := metav1.NewTime(when)
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: at, FinishedAt: at}
}
