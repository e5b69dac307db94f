package node_test

import (
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	podregistry "github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// newDebugNode starts a node whose API server accepts ephemeral containers for processes too.
func newDebugNode(t *testing.T, rt *scripted) *testNode {
	t.Helper()
	h := newTestNodeOf(t, rt, podregistry.Options{})
	h.startNode(nil)
	return h
}

// debug adds an ephemeral container to the pod.
func (h *testNode) debug(pod *corev1.Pod, name string, change func(*corev1.EphemeralContainer), command ...string) {
	h.t.Helper()
	pods := h.api.Clientset().CoreV1().Pods(pod.Namespace)
	now, err := pods.Get(h.t.Context(), pod.Name, metav1.GetOptions{})
	if err != nil {
		h.t.Fatal(err)
	}
	c := corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "none", Command: command}}
	if change != nil {
		change(&c)
	}
	now.Spec.EphemeralContainers = append(now.Spec.EphemeralContainers, c)
	if _, err := pods.UpdateEphemeralContainers(h.t.Context(), pod.Name, now, metav1.UpdateOptions{}); err != nil {
		h.t.Fatal(err)
	}
}

func ephemeralState(p *corev1.Pod, name string) corev1.ContainerState {
	for _, s := range p.Status.EphemeralContainerStatuses {
		if s.Name == name {
			return s.State
		}
	}
	return corev1.ContainerState{}
}

func hasEnded(name string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool { return ephemeralState(p, name).Terminated != nil }
}

func TestAnEphemeralContainerEndsInAPodThatRunsOn(t *testing.T) {
	rt := newScripted()
	h := newDebugNode(t, rt)
	pod := h.create(build("box", []string{"wait"}, func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyAlways }))
	h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	h.debug(pod, "look", nil, "print", "seen")
	h.debug(pod, "fails", nil, "exit", "3")
	h.until(pod, "the first has ended", hasEnded("look"))
	p := h.until(pod, "the second has ended", hasEnded("fails"))
	if code := ephemeralState(p, "fails").Terminated.ExitCode; code != 3 || p.Status.Phase != corev1.PodRunning {
		t.Errorf("exit code %d, phase %s", code, p.Status.Phase)
	}
	log, err := h.node.Logs.PodLogs(t.Context(), p, &corev1.PodLogOptions{Container: "look"})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(log); err != nil || string(text) != "seen\n" {
		t.Errorf("its log is %q, %v", text, err)
	}
	if _, err := h.node.Attempt(p, "look"); err == nil {
		t.Error("a client is let into a container that has ended")
	}

	h.untilSeen(p)
	h.stopNode()
	h.startNode(nil)
	h.debug(pod, "later", nil, "exit", "0")
	h.until(pod, "the third has ended", hasEnded("later"))
	if n := len(rt.startedOf(pod.UID)); n != 4 {
		t.Errorf("%d containers were started, want 4: none again", n)
	}
	rt.check(t)
}

func TestAnEphemeralContainerEndsWithItsPod(t *testing.T) {
	rt := newScripted()
	h := newDebugNode(t, rt)
	pod := h.create(build("box", []string{"wait"}, nil))
	h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	h.debug(pod, "debugger", func(c *corev1.EphemeralContainer) { c.TargetContainerName = "main" }, "wait")
	p := h.until(pod, "it runs", func(p *corev1.Pod) bool { return ephemeralState(p, "debugger").Running != nil })
	if id, err := h.node.Attempt(p, "debugger"); err != nil || id.Container != "debugger" {
		t.Errorf("a client is let into %+v, %v", id, err)
	}
	rt.end(runtime.ID{PodUID: pod.UID, Container: "main"}, 0)
	p = h.until(pod, "the pod succeeds", inPhase(corev1.PodSucceeded))
	if end := ephemeralState(p, "debugger").Terminated; end == nil || end.ExitCode != 143 {
		t.Errorf("it ended with %+v", end)
	}
	h.untilForgotten(rt)
}

func TestAnEphemeralContainerWaitsForItsConfigMap(t *testing.T) {
	rt := newScripted()
	h := newDebugNode(t, rt)
	pod := h.create(build("box", []string{"wait"}, nil))
	h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	h.debug(pod, "debugger", func(c *corev1.EphemeralContainer) {
		c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
	}, "exit", "0")
	h.until(pod, "it waits", func(p *corev1.Pod) bool {
		w := ephemeralState(p, "debugger").Waiting
		return w != nil && w.Reason == "CreateContainerConfigError"
	})
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}}
	if _, err := h.client.ConfigMaps().Create(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	h.until(pod, "it has ended", hasEnded("debugger"))
}
