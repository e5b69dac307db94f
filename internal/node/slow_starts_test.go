package node_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node"
)

// A process does not execute its program while its disk does not answer.
func TestAPodWhoseContainerDoesNotStart(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.Workers = 1 })
	pod := h.create(build("hanging", []string{"hang"}, nil))
	h.eventually("the container is being started", func() bool {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		return len(rt.hanging) == 1
	}, func() any { return nil })
	other := h.create(build("other", []string{"exit", "0"}, nil))
	h.until(other, "another pod succeeds", inPhase(corev1.PodSucceeded))
	waiting := h.until(pod, "the pod has a waiting reason", func(p *corev1.Pod) bool {
		s := statusOf(p, "main")
		return s.State.Waiting != nil && s.State.Waiting.Reason != ""
	})
	if got := statusOf(waiting, "main").State.Waiting.Reason; got != "ContainerCreating" {
		t.Errorf("it waits for %s", got)
	}
	if err := h.client.Pods().Delete(t.Context(), waiting, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.until(pod, "the pod goes", gone)
}
