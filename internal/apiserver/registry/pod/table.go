package pod

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/podstatus"
)

var columns = []metav1.TableColumnDefinition{
	kinds.NameColumn,
	{Name: "Ready", Type: "string", Description: "The aggregate readiness state of this pod for accepting traffic."},
	{Name: "Status", Type: "string", Description: "The aggregate status of the containers in this pod."},
	{Name: "Restarts", Type: "string", Description: "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted."},
	kinds.AgeColumn,
	{Name: "IP", Type: "string", Priority: 1, Description: corev1.PodStatus{}.SwaggerDoc()["podIP"]},
	{Name: "Node", Type: "string", Priority: 1, Description: corev1.PodSpec{}.SwaggerDoc()["nodeName"]},
	{Name: "Nominated Node", Type: "string", Priority: 1, Description: corev1.PodStatus{}.SwaggerDoc()["nominatedNodeName"]},
	{Name: "Readiness Gates", Type: "string", Priority: 1, Description: corev1.PodSpec{}.SwaggerDoc()["readinessGates"]},
}

func row(obj runtime.Object, now time.Time) []any {
	pod := obj.(*corev1.Pod)
	s := summarize(pod)
	return []any{
		pod.Name,
		fmt.Sprintf("%d/%d", s.ready, s.total),
		s.status,
		s.restartsSince(now),
		kinds.Age(pod.CreationTimestamp, now),
		kinds.OrNone(pod.Status.PodIP),
		kinds.OrNone(pod.Spec.NodeName),
		kinds.OrNone(pod.Status.NominatedNodeName),
		readinessGates(pod),
	}
}

func readinessGates(pod *corev1.Pod) string {
	if len(pod.Spec.ReadinessGates) == 0 {
		return "<none>"
	}
	open := 0
	for _, gate := range pod.Spec.ReadinessGates {
		if podstatus.ConditionIs(pod, gate.ConditionType, corev1.ConditionTrue) != nil {
			open++
		}
	}
	return fmt.Sprintf("%d/%d", open, len(pod.Spec.ReadinessGates))
}

// summary is the status of a pod for a table.
type summary struct {
	ready, total int
	status       string
	restarts     int
	lastRestart  metav1.Time
}

func (s *summary) restartsSince(now time.Time) string {
	if s.restarts == 0 || s.lastRestart.IsZero() {
		return strconv.Itoa(s.restarts)
	}
	return fmt.Sprintf("%d (%s ago)", s.restarts, kinds.Age(s.lastRestart, now))
}

// addRestarts adds the restarts of one container, and keeps the time of the last restart.
func (s *summary) addRestarts(c *corev1.ContainerStatus) {
	s.restarts += int(c.RestartCount)
	if t := c.LastTerminationState.Terminated; t != nil && s.lastRestart.Before(&t.FinishedAt) {
		s.lastRestart = t.FinishedAt
	}
}

// summarize returns the summary of a pod, as kubectl shows it. The status is that of the first init container that has not
// succeeded yet, else of the first container that does not run, else the phase.
func summarize(pod *corev1.Pod) summary {
	s := summary{total: len(pod.Spec.Containers), status: phaseOrReason(pod)}
	initializing := s.addInitContainers(pod)
	if !initializing || podstatus.ConditionIs(pod, corev1.PodInitialized, corev1.ConditionTrue) != nil {
		s.addContainers(pod)
	}
	ended := podstatus.IsTerminated(pod)
	switch {
	case pod.DeletionTimestamp != nil && pod.Status.Reason == "NodeLost":
		s.status = "Unknown"
	case pod.DeletionTimestamp != nil && !ended:
		s.status = "Terminating"
	}
	return s
}

func phaseOrReason(pod *corev1.Pod) string {
	gated := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated
	})
	switch {
	case gated:
		return corev1.PodReasonSchedulingGated
	case pod.Status.Reason != "":
		return pod.Status.Reason
	}
	return string(pod.Status.Phase)
}

// addInitContainers adds the init containers. It reports whether the pod still waits for one of them.
func (s *summary) addInitContainers(pod *corev1.Pod) (initializing bool) {
	for i := range pod.Spec.InitContainers {
		if isSidecar(&pod.Spec.InitContainers[i]) {
			s.total++
		}
	}
	for i := range pod.Status.InitContainerStatuses {
		c := &pod.Status.InitContainerStatuses[i]
		s.addRestarts(c)
		switch {
		case c.State.Terminated != nil && c.State.Terminated.ExitCode == 0:
			continue
		case isSidecar(specOf(pod, c.Name)) && c.Started != nil && *c.Started:
			if c.Ready {
				s.ready++
			}
			continue
		}
		s.status = "Init:" + initStatus(c, fmt.Sprintf("%d/%d", i, len(pod.Spec.InitContainers)))
		return true
	}
	return false
}

// initStatus returns the status of the init container that the pod waits for, or progress if it runs.
func initStatus(c *corev1.ContainerStatus, progress string) string {
	switch {
	case c.State.Terminated != nil:
		return terminatedStatus(c.State.Terminated)
	case c.State.Waiting != nil && c.State.Waiting.Reason != "" && c.State.Waiting.Reason != "PodInitializing":
		return c.State.Waiting.Reason
	}
	return progress
}

func terminatedStatus(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

// addContainers adds the containers. It drops the restarts of init containers that have terminated.
func (s *summary) addContainers(pod *corev1.Pod) {
	s.restarts, s.lastRestart = 0, metav1.Time{}
	for i := range pod.Status.InitContainerStatuses {
		c := &pod.Status.InitContainerStatuses[i]
		if isSidecar(specOf(pod, c.Name)) {
			s.addRestarts(c)
		}
	}
	running := false
	for i := len(pod.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := &pod.Status.ContainerStatuses[i]
		s.addRestarts(c)
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			s.status = c.State.Waiting.Reason
		case c.State.Terminated != nil:
			s.status = terminatedStatus(c.State.Terminated)
		case c.Ready && c.State.Running != nil:
			running = true
			s.ready++
		}
	}
	if s.status == "Completed" && running {
		s.status = "NotReady"
		if podstatus.IsReady(pod) {
			s.status = "Running"
		}
	}
}

// specOf returns the init container with this name, or an empty one if there is none.
func specOf(pod *corev1.Pod, name string) *corev1.Container {
	for i := range pod.Spec.InitContainers {
		if pod.Spec.InitContainers[i].Name == name {
			return &pod.Spec.InitContainers[i]
		}
	}
	return &corev1.Container{}
}
