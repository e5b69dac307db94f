package node_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
)

const pendingTimeout corev1.PodConditionType = "stint.dev/PendingTimeout"

// failExternally fails the pod as a controller does at its pending timeout.
func (h *testNode) failExternally(pod *corev1.Pod) *corev1.Pod {
	h.t.Helper()
	written, err := h.client.Pods().ModifyStatus(h.t.Context(), pod, func(p *corev1.Pod) {
		p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "PendingTimeout", "stuck"
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: pendingTimeout, Status: corev1.ConditionTrue})
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return written
}

// checkContainerEnds waits until the status that another client has written shows all containers as terminated, and
// checks that the rest of it has not changed.
func (h *testNode) checkContainerEnds(failed *corev1.Pod, want map[string]corev1.ContainerStateTerminated) {
	h.t.Helper()
	pod := h.until(failed, "its containers are reported as terminated", func(p *corev1.Pod) bool {
		for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
			if s.State.Terminated == nil {
				return false
			}
		}
		return true
	})
	got := map[string]corev1.ContainerStateTerminated{}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		got[s.Name] = corev1.ContainerStateTerminated{ExitCode: s.State.Terminated.ExitCode, Reason: s.State.Terminated.Reason}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		h.t.Errorf("how the containers of %s ended:\n%s", failed.Name, diff)
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		if c := condition(pod, kind); c.Status != corev1.ConditionFalse || c.Reason != "PodFailed" {
			h.t.Errorf("condition %s is %s, %s", kind, c.Status, c.Reason)
		}
	}
	before, after := failed.Status.DeepCopy(), pod.Status.DeepCopy()
	for _, s := range []*corev1.PodStatus{before, after} {
		s.InitContainerStatuses, s.ContainerStatuses = nil, nil
		s.Conditions = slices.DeleteFunc(s.Conditions, func(c corev1.PodCondition) bool { return c.Type != pendingTimeout })
	}
	if diff := cmp.Diff(before, after); diff != "" {
		h.t.Errorf("the status of %s was overwritten:\n%s", failed.Name, diff)
	}
}

// withMissingConfigMap adds a second container, which cannot start as its ConfigMap is missing.
func withMissingConfigMap(p *corev1.Pod) {
	p.Spec.Containers = append(p.Spec.Containers, corev1.Container{
		Name: "late", Image: "none", Command: []string{"exit", "0"},
		EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "absent"}}}},
	})
}

func waitsWithMessage(reason string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		for _, s := range p.Status.ContainerStatuses {
			if s.State.Waiting != nil && s.State.Waiting.Reason == reason && s.State.Waiting.Message != "" {
				return true
			}
		}
		return false
	}
}

func TestAPodFailedByAnotherClientIsEnded(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.Allocatable = quantities("cpu", "1", "memory", "1Gi", "pods", "10") })
	whole := func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = quantities("cpu", "1") }
	pod := h.create(build("stuck", []string{"wait"}, func(p *corev1.Pod) {
		whole(p)
		withMissingConfigMap(p)
	}))
	stuck := h.until(pod, "one container waits", waitsWithMessage("CreateContainerConfigError"))
	failed := h.failExternally(stuck)
	h.untilForgotten(rt)
	next := h.create(build("next", []string{"exit", "0"}, whole))
	h.until(next, "its share is free", inPhase(corev1.PodSucceeded))
	found := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "absent", Namespace: "default"}}
	if _, err := h.client.ConfigMaps().Create(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	third := h.create(build("third", []string{"exit", "0"}, whole))
	h.until(third, "the node goes on", inPhase(corev1.PodSucceeded))
	if started := rt.startedOf(pod.UID); len(started) != 1 {
		t.Errorf("started %d containers, want the first only", len(started))
	}
	h.checkContainerEnds(failed, map[string]corev1.ContainerStateTerminated{"main": {ExitCode: 143, Reason: "Error"}, "late": {ExitCode: 137, Reason: "ContainerStatusUnknown"}})
}

func TestAPodFailedByAnotherClientKeepsItsGraceOverRestarts(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("stuck", []string{"stubborn"}, func(p *corev1.Pod) {
		p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](3600 * 24)
		withMissingConfigMap(p)
	}))
	stuck := h.until(pod, "one container waits", waitsWithMessage("CreateContainerConfigError"))
	h.stopNode()
	failed := h.failExternally(stuck)
	h.untilSeen(failed)
	h.startNode(nil)
	// However long the test has taken, most of the day must be left.
	if grace := h.untilStopped(rt, pod); grace.Hours() < 12 {
		t.Errorf("it gets %s of a day", grace)
	}
	rt.end(runtime.ID{PodUID: pod.UID, Container: "main"}, 137)
	h.untilForgotten(rt)
	h.checkContainerEnds(failed, map[string]corev1.ContainerStateTerminated{"main": {ExitCode: 137, Reason: "Error"}, "late": {ExitCode: 137, Reason: "ContainerStatusUnknown"}})
}

func TestAPodFailedByAnotherClientReportsLostContainers(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("stuck", []string{"wait"}, withMissingConfigMap))
	stuck := h.until(pod, "one container waits", waitsWithMessage("CreateContainerConfigError"))
	h.stopNode()
	failed := h.failExternally(stuck)
	h.untilSeen(failed)
	rt.lose(runtime.ID{PodUID: pod.UID, Container: "main"})
	h.startNode(nil)
	lost := corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}
	h.checkContainerEnds(failed, map[string]corev1.ContainerStateTerminated{"main": lost, "late": lost})
}

func TestAPodThatCanNeverFitIsUnschedulableAndOthersWaitForTheirTurn(t *testing.T) {
	t.Parallel() // It only waits, for a second or more.
	h := newTestNode(t, newScripted())
	h.startNode(func(c *node.Config) { c.Allocatable = quantities("cpu", "1", "memory", "1Gi", "pods", "10") })
	wants := func(cpu string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = quantities("cpu", cpu) }
	}
	first := h.create(build("first", []string{"wait"}, wants("1")))
	h.until(first, "the first runs", inPhase(corev1.PodRunning))
	for reason, cpu := range map[string]string{corev1.PodReasonUnschedulable: "2", lifecycle.WaitingForTurn: "500m"} {
		pod := h.create(build(strings.ToLower(reason), []string{"exit", "0"}, wants(cpu)))
		h.until(pod, "it is "+reason, func(p *corev1.Pod) bool {
			c := condition(p, corev1.PodScheduled)
			return c.Status == corev1.ConditionFalse && c.Reason == reason
		})
	}
}

// The containers of a pod that another client fails are stopped, main containers before sidecars, and their logs can
// still be read.
func TestRealProcessesOfAPodFailedByAnotherClient(t *testing.T) {
	h := newTestNode(t, processes(t, t.TempDir()))
	h.startNode(nil)
	order := filepath.Join(t.TempDir(), "order")
	ends := func(name string) []string {
		return shell("trap 'echo " + name + " >> " + order + "; exit 0' TERM; echo " + name + " starts; while :; do sleep 0.05; done")
	}
	pod := h.create(build("stuck", ends("main"), func(p *corev1.Pod) {
		withMissingConfigMap(p)
		p.Spec.InitContainers = []corev1.Container{{
			Name: "beside", Image: "none", Command: ends("beside"), RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
		}}
	}))
	stuck := h.until(pod, "one container waits", waitsWithMessage("CreateContainerConfigError"))
	h.logged(stuck, "main", "main starts")
	h.logged(stuck, "beside", "beside starts")
	failed := h.failExternally(stuck)
	h.eventually("both have ended, the sidecar last", func() bool {
		text, err := os.ReadFile(order)
		return err == nil && string(text) == "main\nbeside\n"
	}, func() any { text, _ := os.ReadFile(order); return string(text) })
	h.logged(stuck, "main", "main starts")
	h.checkContainerEnds(failed, map[string]corev1.ContainerStateTerminated{
		"beside": {Reason: "Completed"}, "main": {Reason: "Completed"}, "late": {ExitCode: 137, Reason: "ContainerStatusUnknown"},
	})
}

// logged waits until a container has printed a line.
func (h *testNode) logged(pod *corev1.Pod, container, want string) {
	h.t.Helper()
	h.eventually(container+" prints", func() bool {
		log, err := h.node.Logs.PodLogs(context.Background(), pod, &corev1.PodLogOptions{Container: container})
		if err != nil {
			return false
		}
		defer log.Close()
		text, err := io.ReadAll(log)
		return err == nil && strings.Contains(string(text), want)
	}, func() any { return pod.Name })
}
