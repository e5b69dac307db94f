package node_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

func TestShortPodTakesOneWrite(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.ReportAfter(await.Limit) })
	created := h.create(build("short", []string{"exit", "0"}, nil))
	writes := 0
	last := created.ResourceVersion
	done := h.until(created, "the pod succeeds", func(p *corev1.Pod) bool {
		if p.ResourceVersion != last {
			writes, last = writes+1, p.ResourceVersion
		}
		return p.Status.Phase == corev1.PodSucceeded
	})
	h.untilForgotten(rt)
	if writes != 1 {
		t.Errorf("saw %d versions after the creation, want 1", writes)
	}
	if done.Spec.NodeName != "here" || done.Status.StartTime == nil {
		t.Errorf("node %q, start time %v", done.Spec.NodeName, done.Status.StartTime)
	}
	ended := done.Status.ContainerStatuses[0].State.Terminated
	if ended == nil || ended.ExitCode != 0 || ended.Reason != "Completed" {
		t.Errorf("container ended as %+v", ended)
	}
	if c := condition(done, corev1.PodReady); c.Reason != "PodCompleted" || c.Status != corev1.ConditionFalse {
		t.Errorf("condition Ready is %+v", c)
	}
	if len(h.events.Events) != 0 {
		t.Errorf("event %q for a pod that ended at once", <-h.events.Events)
	}
	rt.check(t)
}

func TestLongPodIsReportedRunningAndDeleted(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("long", []string{"wait"}, nil))
	running := h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	if c := condition(running, corev1.PodReady); c.Status != corev1.ConditionTrue {
		t.Errorf("condition Ready is %+v", c)
	}
	if got := h.event(); got != "Normal Started Started container main" {
		t.Errorf("event %q", got)
	}
	if err := h.client.Pods().Delete(t.Context(), running, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.until(pod, "the pod goes", gone)
	h.untilForgotten(rt)
	if got := h.event(); got != "Normal Killing Stopping container main" {
		t.Errorf("event %q", got)
	}
}

func TestDeletedPodWithFinalizerShowsItsEnd(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("held", []string{"wait"}, func(p *corev1.Pod) { p.Finalizers = []string{"example.com/hold"} }))
	running := h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	if err := h.client.Pods().Delete(t.Context(), running, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	failed := h.until(pod, "the pod has failed", inPhase(corev1.PodFailed))
	if ended := failed.Status.ContainerStatuses[0].State.Terminated; ended == nil || ended.ExitCode != 143 {
		t.Errorf("container ended as %+v", ended)
	}
	h.untilForgotten(rt)
	if _, err := h.client.Pods().Modify(t.Context(), failed, func(p *corev1.Pod) { p.Finalizers = nil }); err != nil {
		t.Fatal(err)
	}
	h.until(pod, "the pod goes", gone)
}

func TestPodsWaitForResources(t *testing.T) {
	t.Parallel() // It only waits, for a second or more.
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.Allocatable = quantities("cpu", "2", "memory", "1Gi", "pods", "10") })
	wants := func(cpu string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = quantities("cpu", cpu) }
	}
	first := h.create(build("first", []string{"wait"}, wants("1500m")))
	h.until(first, "the first runs", inPhase(corev1.PodRunning))
	second := h.create(build("second", []string{"exit", "0"}, wants("1")))
	waiting := h.until(second, "the second says that it waits", func(p *corev1.Pod) bool {
		return condition(p, corev1.PodScheduled).Reason == lifecycle.WaitingForTurn
	})
	if got, want := condition(waiting, corev1.PodScheduled).Message, "cpu: 1 requested, 500m free of 2"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if waiting.Spec.NodeName != "" || len(rt.startedOf(second.UID)) != 0 {
		t.Errorf("the waiting pod is on node %q and has started %v", waiting.Spec.NodeName, rt.startedOf(second.UID))
	}
	rt.end(runtime.ID{PodUID: first.UID, Container: "main"}, 0)
	h.until(second, "the second ends", inPhase(corev1.PodSucceeded))
}

func TestCordonedNodeTakesNoPods(t *testing.T) {
	t.Parallel() // It only waits, for a second or more.
	rt := newScripted()
	h := newTestNode(t, rt)
	object, err := h.client.Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "here"}, Spec: corev1.NodeSpec{Unschedulable: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	h.startNode(nil)
	pod := h.create(build("waits", []string{"exit", "0"}, nil))
	h.until(pod, "the pod says that it waits", func(p *corev1.Pod) bool {
		return strings.Contains(condition(p, corev1.PodScheduled).Message, "spec.unschedulable")
	})
	if n := len(rt.startedOf(pod.UID)); n != 0 {
		t.Errorf("started %d times", n)
	}
	if _, err := h.client.Nodes().Modify(t.Context(), object, func(n *corev1.Node) { n.Spec.Unschedulable = false }); err != nil {
		t.Fatal(err)
	}
	h.until(pod, "the pod runs", inPhase(corev1.PodSucceeded))
}

func TestDeletedNodeIsRegisteredAgain(t *testing.T) {
	h := newTestNode(t, newScripted())
	h.startNode(nil)
	var object *corev1.Node
	registered := func(unlike types.UID) func() bool {
		return func() (ok bool) {
			var err error
			object, err = h.client.Nodes().Get(t.Context(), "", "here")
			return err == nil && object.UID != unlike && len(object.Status.Conditions) > 0
		}
	}
	h.eventually("the node is registered", registered(""), func() any { return object })
	if err := h.client.Nodes().Delete(t.Context(), object, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.eventually("it is registered anew", registered(object.UID), func() any { return object })
}

func TestMissingConfigMapIsWaitedFor(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("config", []string{"wait"}, func(p *corev1.Pod) {
		p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "COLOUR", ValueFrom: &corev1.EnvVarSource{
			ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "colour"},
		}}}
	}))
	h.until(pod, "the container waits", func(p *corev1.Pod) bool {
		s := p.Status.ContainerStatuses
		return len(s) == 1 && s[0].State.Waiting != nil && s[0].State.Waiting.Reason == "CreateContainerConfigError"
	})
	settings := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: "default"}, Data: map[string]string{"colour": "blue"},
	}
	if _, err := h.client.ConfigMaps().Create(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	started := rt.startedOf(pod.UID)
	if len(started) != 1 || !contains(started[0].Env, "COLOUR=blue") || !contains(started[0].Env, "HOSTNAME=config") {
		t.Errorf("started %+v", started)
	}
}

func contains(list []string, want string) bool {
	for _, s := range list {
		if s == want {
			return true
		}
	}
	return false
}

func TestLogs(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("talks", []string{"print", "hello"}, nil))
	ended := h.until(pod, "the pod ends", inPhase(corev1.PodSucceeded))
	read := func(pod *corev1.Pod, opts *corev1.PodLogOptions) (string, error) {
		opts.Container = "main"
		r, err := h.node.Logs.PodLogs(context.Background(), pod, opts)
		if err != nil {
			return "", err
		}
		defer func() { _ = r.Close() }()
		text, err := io.ReadAll(r)
		return string(text), err
	}
	if got, err := read(ended, &corev1.PodLogOptions{Follow: true}); err != nil || got != "hello\n" {
		t.Errorf("log %q, %v", got, err)
	}
	if _, err := read(ended, &corev1.PodLogOptions{Previous: true}); err == nil || !strings.Contains(err.Error(), "previous terminated container") {
		t.Errorf("the log of an attempt that never was: %v", err)
	}
	silent := h.create(build("silent", []string{"exit", "0"}, nil))
	if got, err := read(h.until(silent, "the pod ends", inPhase(corev1.PodSucceeded)), &corev1.PodLogOptions{}); err != nil || got != "" {
		t.Errorf("log of a silent container %q, %v", got, err)
	}
	gated := h.create(build("gated", []string{"exit", "0"}, func(p *corev1.Pod) {
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/later"}}
	}))
	if _, err := read(gated, &corev1.PodLogOptions{}); err == nil || !strings.Contains(err.Error(), "is waiting to start") {
		t.Errorf("the log of a pod that waits: %v", err)
	}
	if n := len(rt.startedOf(gated.UID)); n != 0 {
		t.Errorf("a gated pod was started %d times", n)
	}
}

// The log of a container that runs must not end only because its node has just been started again.
func TestLogOfANodeThatDoesNotKnowItsPodsYet(t *testing.T) {
	h := newTestNode(t, newScripted())
	n, err := node.New(node.Config{Name: "here", Client: h.client, Runtime: h.rt, Dir: h.dir})
	if err != nil {
		t.Fatal(err)
	}
	pod := build("runs", []string{"print", "hello"}, nil)
	pod.UID = "u"
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main",
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := n.Logs.PodLogs(ctx, pod, &corev1.PodLogOptions{Container: "main", Follow: true})
	if err == nil {
		_ = r.Close()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the log was opened: %v", err)
	}
}

func TestFailureToStart(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("broken", []string{"fail"}, nil))
	failed := h.until(pod, "the pod fails", inPhase(corev1.PodFailed))
	if ended := failed.Status.ContainerStatuses[0].State.Terminated; ended.Reason != "StartError" || ended.ExitCode != 128 || ended.Message != "no such program" {
		t.Errorf("container ended as %+v", ended)
	}
	if got := h.event(); !strings.HasPrefix(got, "Warning Failed Error: ") {
		t.Errorf("event %q", got)
	}
}

func TestNodeObject(t *testing.T) {
	h := newTestNode(t, newScripted())
	h.startNode(func(c *node.Config) { c.Allocatable = quantities("cpu", "3", "memory", "5Gi") })
	var object *corev1.Node
	h.eventually("the node is there", func() bool {
		got, err := h.client.Nodes().Get(context.Background(), "", "here")
		object = got
		return err == nil && len(got.Status.Conditions) > 0
	}, func() any { return object })
	if object.Annotations["stint.dev/isolation"] != "none at all" || object.Annotations["stint.dev/limits-not-enforced"] != "cpu,memory" {
		t.Errorf("annotations %v", object.Annotations)
	}
	if got := object.Status.Allocatable.Cpu().String(); got != "3" {
		t.Errorf("allocatable cpu %s", got)
	}
	states := map[corev1.NodeConditionType]corev1.ConditionStatus{}
	for _, c := range object.Status.Conditions {
		states[c.Type] = c.Status
	}
	if states[corev1.NodeReady] != corev1.ConditionTrue || states[corev1.NodeDiskPressure] != corev1.ConditionFalse {
		t.Errorf("conditions %+v", object.Status.Conditions)
	}
}
