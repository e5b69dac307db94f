package node_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// untilStarted waits until the runtime runs the pod, which is long before its status is written.
func (h *testNode) untilStarted(rt *scripted, pod *corev1.Pod) {
	h.t.Helper()
	h.eventually("the pod is started", func() bool { return len(rt.startedOf(pod.UID)) > 0 }, func() any { return pod.Name })
}

// untilStopped waits until the pod is told to stop, and returns its grace period.
func (h *testNode) untilStopped(rt *scripted, pod *corev1.Pod) time.Duration {
	h.t.Helper()
	h.eventually("it is told to stop", func() bool { return rt.stopped(pod.UID) > 0 }, func() any { return pod.Name })
	return rt.stopped(pod.UID)
}

func TestPodKeepsItsGraceBeforeItIsReported(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.ReportAfter(await.Limit) })
	pod := h.create(build("fresh", []string{"stubborn"}, func(p *corev1.Pod) {
		p.Finalizers = []string{"example.com/counted"}
		p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(3600))
	}))
	h.untilStarted(rt, pod)
	if err := h.client.Pods().Delete(t.Context(), pod, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	dying := h.until(pod, "it is terminating", func(p *corev1.Pod) bool { return p != nil && p.DeletionTimestamp != nil })
	if got := *dying.DeletionGracePeriodSeconds; got != 3600 {
		t.Errorf("grace %d, want 3600", got)
	}
	rt.end(runtime.ID{PodUID: pod.UID, Container: "main"}, 3)
	failed := h.until(pod, "its end is reported", inPhase(corev1.PodFailed))
	if got := failed.Status.ContainerStatuses[0].State.Terminated.ExitCode; got != 3 {
		t.Errorf("exit code %d, want 3", got)
	}
}

func TestWaitingPodIsDeletedAtOnce(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.Allocatable = quantities("pods", "1") })
	first := h.create(build("first", []string{"wait"}, nil))
	h.untilStarted(rt, first)
	waits := h.create(build("waits", []string{"wait"}, nil))
	if err := h.client.Pods().Delete(t.Context(), waits, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := h.client.Pods().Get(t.Context(), waits.Namespace, waits.Name); err == nil {
		t.Errorf("it is still there: %+v", got.ObjectMeta)
	}
}

func TestStoppingNodeEndsContainersWithoutAPod(t *testing.T) {
	t.Parallel() // It only waits, for a second or more.
	h := newTestNode(t, processes(t, t.TempDir()))
	h.startNode(nil)
	loop := "while :; do sleep 0.05; done"
	doomed, stays := h.create(build("doomed", shell("trap '' TERM; "+loop), nil)), h.create(build("stays", shell(loop), nil))
	for _, p := range []*corev1.Pod{doomed, stays} {
		h.until(p, "the pod runs", inPhase(corev1.PodRunning))
	}
	if err := h.client.Pods().Delete(t.Context(), doomed, client.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}); err != nil {
		t.Fatal(err)
	}
	h.stopNode()
	list, err := h.rt.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var running []types.UID
	for _, s := range list {
		if s.State == runtime.Running {
			running = append(running, s.PodUID)
		}
	}
	if diff := cmp.Diff([]types.UID{stays.UID}, running); diff != "" {
		t.Errorf("running after the node has stopped: %s", diff)
	}
	h.startNode(nil)
	if err := h.client.Pods().Delete(t.Context(), stays, client.DeleteOptions{GracePeriodSeconds: ptr.To(int64(1))}); err != nil {
		t.Fatal(err)
	}
	h.until(stays, "the pod that ran on is ended", gone)
}

func TestCordonedNodeOnlyManagesRunningPods(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	running := h.create(build("running", []string{"wait"}, nil))
	h.untilSeen(h.until(running, "the pod runs", inPhase(corev1.PodRunning)))
	h.stopNode()
	h.startNode(func(c *node.Config) { c.Cordoned = true })
	fresh := h.create(build("new", []string{"exit", "0"}, nil))
	if err := h.client.Pods().Delete(t.Context(), running, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.until(running, "the pod is ended", gone)
	if n := len(rt.startedOf(fresh.UID)); n != 0 {
		t.Errorf("the new pod was started %d times", n)
	}
	h.stopNode()
	h.startNode(nil)
	h.until(fresh, "another node runs the new pod", inPhase(corev1.PodSucceeded))
}

func TestPodDeletedWithoutGraceIsEndedWithAnEvent(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("forced", []string{"stubborn"}, func(p *corev1.Pod) {
		p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(3600))
	}))
	h.untilStarted(rt, pod)
	if err := h.client.Pods().Delete(t.Context(), pod, client.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}); err != nil {
		t.Fatal(err)
	}
	h.untilStopped(rt, pod)
	rt.end(runtime.ID{PodUID: pod.UID, Container: "main"}, 137)
	h.untilForgotten(rt)
	var last string
	for last != "Normal Killing Stopping container main" {
		last = h.event()
	}
}

func TestStubbornPodIsKilledAtItsDeadline(t *testing.T) {
	t.Parallel() // It only waits, for a second or more.
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("stubborn", []string{"stubborn"}, func(p *corev1.Pod) {
		p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(7))
	}))
	h.untilStarted(rt, pod)
	late := func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = ptr.To(int64(1)) }
	if _, err := h.client.Pods().Modify(t.Context(), pod, late); err != nil {
		t.Fatal(err)
	}
	h.untilStopped(rt, pod)
	rt.end(runtime.ID{PodUID: pod.UID, Container: "main"}, 137)
	failed := h.until(pod, "the pod fails", inPhase(corev1.PodFailed))
	if failed.Status.Reason != "DeadlineExceeded" || failed.Status.ContainerStatuses[0].State.Terminated.ExitCode != 137 {
		t.Errorf("status %+v", failed.Status)
	}
}
