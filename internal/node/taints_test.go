package node_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// createTaintedNode creates the Node before the node registers itself.
func (h *testNode) createTaintedNode(list ...corev1.Taint) *corev1.Node {
	h.t.Helper()
	object, err := h.client.Nodes().Create(h.t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "here"}, Spec: corev1.NodeSpec{Taints: list},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return object
}

func (h *testNode) setTaints(object *corev1.Node, list ...corev1.Taint) {
	h.t.Helper()
	if _, err := h.client.Nodes().Modify(h.t.Context(), object, func(n *corev1.Node) { n.Spec.Taints = list }); err != nil {
		h.t.Fatal(err)
	}
}

func tolerates(key string, seconds *int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		tolerated := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, TolerationSeconds: seconds}
		if seconds != nil {
			tolerated.Effect = corev1.TaintEffectNoExecute
		}
		p.Spec.Tolerations = []corev1.Toleration{tolerated}
	}
}

func TestANodeTakesNoPodThatDoesNotTolerateItsTaints(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	object := h.createTaintedNode(corev1.Taint{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule})
	h.startNode(nil)
	kept := h.create(build("kept", []string{"exit", "0"}, nil))
	h.until(kept, "the pod says why it waits", func(p *corev1.Pod) bool {
		c := condition(p, corev1.PodScheduled)
		return c.Reason == corev1.PodReasonUnschedulable && c.Message == "the node has the taint gpu=yes:NoSchedule, which the pod does not tolerate"
	})
	tolerant := h.create(build("tolerant", []string{"exit", "0"}, tolerates("gpu", nil)))
	h.until(tolerant, "the pod that tolerates it runs", inPhase(corev1.PodSucceeded))
	if n := len(rt.startedOf(kept.UID)); n != 0 {
		t.Errorf("started %d times", n)
	}
	h.setTaints(object)
	h.until(kept, "the pod runs once the taint is gone", inPhase(corev1.PodSucceeded))
}

func TestATaintEvictsPods(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	object := h.createTaintedNode()
	h.startNode(nil)
	watched := func(change func(*corev1.Pod)) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Finalizers = []string{"example.com/seen"}
			change(p)
		}
	}
	leaves := h.create(build("leaves", []string{"wait"}, watched(func(*corev1.Pod) {})))
	stays := h.create(build("stays", []string{"wait"}, tolerates("repair", nil)))
	later := h.create(build("later", []string{"wait"}, watched(tolerates("repair", ptr.To[int64](1)))))
	for _, p := range []*corev1.Pod{leaves, stays, later} {
		h.until(p, "the pod runs", inPhase(corev1.PodRunning))
	}
	h.setTaints(object, corev1.Taint{Key: "repair", Effect: corev1.TaintEffectNoExecute})
	for pod, want := range map[*corev1.Pod]string{
		leaves: "the node has the taint repair:NoExecute, which the pod does not tolerate",
		later:  "the node has the taint repair:NoExecute, which the pod does not tolerate for longer than 1s",
	} {
		gone := h.until(pod, "the pod has been sent away", inPhase(corev1.PodFailed))
		if c := condition(gone, corev1.DisruptionTarget); c.Reason != "DeletionByTaintManager" || c.Message != want || gone.DeletionTimestamp == nil {
			t.Errorf("pod %s has the condition %+v and was deleted at %v", pod.Name, c, gone.DeletionTimestamp)
		}
	}
	rt.end(runtime.ID{PodUID: stays.UID, Container: "main"}, 0)
	h.until(stays, "the pod that tolerates it ends by itself", inPhase(corev1.PodSucceeded))
}
