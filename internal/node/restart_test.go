package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

func TestNodeStoppedAtAnyMoment(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	var pods []*corev1.Pod
	for round := range 6 {
		h.startNode(func(c *node.Config) { c.Allocatable = quantities("pods", "15") })
		for i := range 25 {
			pods = append(pods, h.create(build(fmt.Sprintf("pod-%d-%d", round, i), []string{"exit", fmt.Sprint(i % 2)}, nil)))
		}
		h.stopNode()
		for _, p := range pods {
			h.untilSeen(h.until(p, "it is stored", func(p *corev1.Pod) bool { return p != nil }))
		}
	}
	h.startNode(nil)
	for i, p := range pods {
		want := []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}[i%25%2]
		h.until(p, "the pod ends", inPhase(want))
		if n := len(rt.startedOf(p.UID)); n != 1 {
			t.Errorf("%s was started %d times", p.Name, n)
		}
	}
	h.untilForgotten(rt)
	rt.check(t)
}

func TestRestartTakesContainersBack(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	stays := h.create(build("stays", []string{"wait"}, nil))
	ends := h.create(build("ends", []string{"wait"}, nil))
	vanishes := h.create(build("vanishes", []string{"wait"}, nil))
	for _, p := range []*corev1.Pod{stays, ends, vanishes} {
		h.untilSeen(h.until(p, "the pod runs", inPhase(corev1.PodRunning)))
	}
	h.stopNode()
	rt.end(runtime.ID{PodUID: ends.UID, Container: "main"}, 3)
	rt.mu.Lock()
	delete(rt.attempts, runtime.ID{PodUID: vanishes.UID, Container: "main"})
	rt.mu.Unlock()
	if _, err := rt.Start(t.Context(), runtime.Container{ID: runtime.ID{PodUID: "unknown", Container: "x"}, Command: []string{"wait"}}); err != nil {
		t.Fatal(err)
	}
	drain(rt.events)

	h.startNode(nil)
	failed := h.until(ends, "the end is reported", inPhase(corev1.PodFailed))
	if got := failed.Status.ContainerStatuses[0].State.Terminated.ExitCode; got != 3 {
		t.Errorf("exit code %d, want 3", got)
	}
	lost := h.until(vanishes, "the loss is reported", inPhase(corev1.PodFailed))
	if ended := lost.Status.ContainerStatuses[0].State.Terminated; ended.Reason != "ContainerStatusUnknown" || ended.ExitCode != 137 {
		t.Errorf("the lost container ended as %+v", ended)
	}
	if c := condition(lost, corev1.DisruptionTarget); c.Status != corev1.ConditionTrue {
		t.Errorf("condition DisruptionTarget is %+v", c)
	}
	h.eventually("the container without a pod is stopped", func() bool { return rt.held() == 1 }, func() any { return rt.held() })
	rt.end(runtime.ID{PodUID: stays.UID, Container: "main"}, 0)
	h.until(stays, "the pod that ran on succeeds", inPhase(corev1.PodSucceeded))
	for _, p := range []*corev1.Pod{stays, ends, vanishes} {
		if n := len(rt.startedOf(p.UID)); n != 1 {
			t.Errorf("%s was started %d times", p.Name, n)
		}
	}
	rt.check(t)
}

// The node begins with the pods whose names come first, here with one at a time.
func TestPodsThatWaitGetNothingOfWhatStartedPodsHoldAfterARestart(t *testing.T) {
	for when, tt := range map[string]struct {
		// waits changes the pods that wait.
		waits func(*corev1.Pod)
		// unreported means that the node died before it reported that the others had started.
		unreported bool
	}{
		"any pod waits":                         {},
		"a pod waits that is bound to the node": {waits: func(p *corev1.Pod) { p.Spec.NodeName = "here" }},
		"it is not known that the others run":   {unreported: true},
	} {
		t.Run(when, func(t *testing.T) {
			const room = 3
			rt := newScripted()
			h := newTestNode(t, rt)
			small := func(c *node.Config) { c.Allocatable, c.Workers = quantities("pods", fmt.Sprint(room)), 1 }
			h.startNode(small)
			if tt.unreported {
				h.stopNode()
			}
			var started, waiting []*corev1.Pod
			for i := range room {
				p := h.create(build(fmt.Sprintf("z-%d", i), []string{"wait"}, nil))
				if tt.unreported {
					h.startByHand(rt, p)
				} else {
					h.until(p, "the pod runs", inPhase(corev1.PodRunning))
				}
				started = append(started, p)
			}
			for i := range 3 * room {
				waiting = append(waiting, h.create(build(fmt.Sprintf("a-%d", i), []string{"wait"}, tt.waits)))
			}
			for _, p := range waiting {
				h.untilSeen(p)
			}
			begun := func() (n int) {
				for _, p := range waiting {
					n += len(rt.startedOf(p.UID))
				}
				return n
			}
			h.stopNode()
			h.startNode(small)
			for ended, p := range started {
				h.until(p, "the pod runs", inPhase(corev1.PodRunning))
				if n := begun(); n > ended {
					t.Fatalf("%d pods that waited were started when %d had ended", n, ended)
				}
				rt.end(runtime.ID{PodUID: p.UID, Container: "main"}, 0)
				h.eventually("a pod is started in its place", func() bool { return begun() > ended }, func() any { return begun() })
			}
		})
	}
}

// startByHand starts the container of a pod as a node does that dies then.
func (h *testNode) startByHand(rt *scripted, p *corev1.Pod) {
	h.t.Helper()
	c := runtime.Container{ID: runtime.ID{PodUID: p.UID, Container: "main"}, PodNamespace: p.Namespace, PodName: p.Name, Command: []string{"wait"}}
	if _, err := rt.Start(h.t.Context(), c); err != nil {
		h.t.Fatal(err)
	}
}

func TestANodeThatDiedBeforeItHadCleanedUpDoesSoLater(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	ended := h.create(build("ended", []string{"exit", "0"}, nil))
	runs := h.create(build("runs", []string{"wait"}, nil))
	h.untilSeen(h.until(ended, "it has ended", inPhase(corev1.PodSucceeded)))
	h.untilSeen(h.until(runs, "it runs", inPhase(corev1.PodRunning)))
	h.stopNode()
	folder := func(pod *corev1.Pod) string { return filepath.Join(h.dir, "pods", string(pod.UID)) }
	for _, pod := range []*corev1.Pod{ended, runs} {
		if err := os.MkdirAll(filepath.Join(folder(pod), "volumes"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.startNode(nil)
	h.eventually("the folder of the pod that has ended is gone", func() bool {
		_, err := os.Stat(folder(ended))
		return errors.Is(err, fs.ErrNotExist)
	}, func() any { return folder(ended) })
	if _, err := os.Stat(folder(runs)); err != nil {
		t.Errorf("the folder of the pod that runs: %v", err)
	}
}

// slowToForget is a runtime that has not removed a pod yet when the node stops.
type slowToForget struct {
	*scripted
	asked chan struct{}
	once  sync.Once
}

func (r *slowToForget) RemovePod(ctx context.Context, uid types.UID, dir string) error {
	first := false
	r.once.Do(func() { first = true })
	if !first {
		return r.scripted.RemovePod(ctx, uid, dir)
	}
	close(r.asked)
	<-ctx.Done()
	return ctx.Err()
}

func TestANodeThatStopsRemovesTheFilesOfPodsThatHaveEnded(t *testing.T) {
	rt := &slowToForget{scripted: newScripted(), asked: make(chan struct{})}
	h := newTestNode(t, rt)
	h.startNode(nil)
	runs := h.create(build("runs", []string{"wait"}, withScratch("1Gi")))
	ended := h.create(build("ended", []string{"exit", "0"}, withScratch("1Gi")))
	h.untilSeen(h.until(runs, "it runs", inPhase(corev1.PodRunning)))
	h.untilSeen(h.until(ended, "it has ended", inPhase(corev1.PodSucceeded)))
	await.Value(t, "the call to remove the pod", rt.asked)
	h.stopNode()
	if exists(filepath.Join(h.dir, "pods", string(ended.UID))) {
		t.Error("files of a pod that has ended are left")
	}
	if !exists(h.scratchOf(runs.UID)) {
		t.Error("the volume of a pod that runs is gone")
	}
}

func drain(events chan runtime.Status) {
	for {
		select {
		case <-events:
		default:
			return
		}
	}
}

func TestManyPodsRunOnceEach(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.Allocatable = quantities("pods", "20") })
	var pods []*corev1.Pod
	for i := range 300 {
		pods = append(pods, h.create(build(fmt.Sprintf("pod-%d", i), []string{"exit", "0"}, nil)))
	}
	for _, p := range pods {
		h.until(p, "the pod succeeds", inPhase(corev1.PodSucceeded))
		if n := len(rt.startedOf(p.UID)); n != 1 {
			t.Errorf("%s was started %d times", p.Name, n)
		}
	}
	h.untilForgotten(rt)
	rt.check(t)
}

// A kill between the two writes of a deletion leaves a pod that has no grace period any more, but exists.
func TestANodeThatStartsFinishesDeletions(t *testing.T) {
	h := newTestNode(t, newScripted())
	bound := func(p *corev1.Pod) {
		p.Spec.NodeName, p.Finalizers = "here", []string{"example.com/held"}
	}
	cutOff := h.create(build("cut-off", []string{"wait"}, bound))
	held := h.create(build("held", []string{"wait"}, bound))
	for _, pod := range []*corev1.Pod{cutOff, held} {
		if err := h.client.Pods().Delete(t.Context(), pod, client.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
			t.Fatal(err)
		}
	}
	h.dropFinalizers(cutOff)

	h.startNode(nil)
	h.until(cutOff, "it is gone", gone)
	h.until(held, "it waits for its finalizer", func(p *corev1.Pod) bool { return p != nil && p.DeletionTimestamp != nil })
}

// dropFinalizers writes to the store directly, as the API server would delete the pod.
func (h *testNode) dropFinalizers(pod *corev1.Pod) {
	h.t.Helper()
	key := "/registry/pods/" + pod.Namespace + "/" + pod.Name
	stored, err := h.api.Store.Client().Get(h.t.Context(), key)
	if err != nil || len(stored.Kvs) != 1 {
		h.t.Fatalf("%v, %v", stored, err)
	}
	codec := protobuf.NewSerializer(clientscheme.Scheme, clientscheme.Scheme)
	obj, _, err := codec.Decode(stored.Kvs[0].Value, nil, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	obj.(*corev1.Pod).Finalizers = nil
	var text bytes.Buffer
	if err := codec.Encode(obj, &text); err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.api.Store.Client().Put(h.t.Context(), key, text.String()); err != nil {
		h.t.Fatal(err)
	}
}
