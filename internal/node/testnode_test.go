package node_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/record"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	podregistry "github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/localvolume"
	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

// testNode is an API server with a node in it.
type testNode struct {
	t      testing.TB
	api    *apiservertest.Server
	client client.Interface
	rt     runtime.Runtime
	dir    string
	node   *node.Node
	events *record.FakeRecorder

	stopNode func()
	// ended receives the result of the node's Run.
	ended chan error
}

// newTestNode starts an API server; startNode starts the node in it.
func newTestNode(t testing.TB, rt runtime.Runtime) *testNode {
	t.Helper()
	return newTestNodeOf(t, rt, podregistry.Options{Node: rt.Info})
}

// newTestNodeOf is newTestNode with other options of the API server.
func newTestNodeOf(t testing.TB, rt runtime.Runtime, o podregistry.Options) *testNode {
	t.Helper()
	h := &testNode{t: t, rt: rt}
	o.IsRunByNode = h.taken
	h.api = apiservertest.Start(t, func(c *apiserver.Config) { c.Registry = o })
	h.client, h.dir = h.api.Client(), h.api.Dir
	return h
}

func (h *testNode) taken(pod *corev1.Pod) bool {
	if h.node == nil {
		return pod.Spec.NodeName != ""
	}
	return h.node.Taken(pod)
}

// startNode starts the node, again if it ran before.
func (h *testNode) startNode(change func(*node.Config)) {
	h.t.Helper()
	h.events = record.NewFakeRecorder(10_000)
	c := node.Config{Name: "here", Client: h.client, Runtime: h.rt, Dir: h.dir, Recorder: h.events, Version: "test",
		Volumes: localvolume.Of(h.dir, h.rt.RemoveVolume)}
	c.StopTimeout(await.Limit)
	if change != nil {
		change(&c)
	}
	var err error
	if h.node, err = node.New(c); err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := h.api.StartInformers(context.Background()); err != nil {
		h.t.Fatal(err)
	}
	h.ended = make(chan error, 1)
	go func() { h.ended <- h.node.Run(ctx) }()
	var once sync.Once
	h.stopNode = func() {
		once.Do(func() {
			cancel()
			if err := <-h.ended; err != nil {
				h.t.Errorf("run the node: %v", err)
			}
		})
	}
	h.t.Cleanup(h.stopNode)
}

// build returns a pod with one container, changed by change unless that is nil.
func build(name string, command []string, change func(*corev1.Pod)) *corev1.Pod {
	pod := wrappers.MakePod(name).Namespace("default").Containers("main").Image("none").Command(command...).Obj()
	if change != nil {
		change(pod)
	}
	return pod
}

func (h *testNode) create(pod *corev1.Pod) *corev1.Pod {
	h.t.Helper()
	created, err := h.client.Pods().Create(h.t.Context(), pod)
	if err != nil {
		h.t.Fatal(err)
	}
	return created
}

// until waits until the pod is in a state, and returns it; nil is a pod that does not exist.
func (h *testNode) until(pod *corev1.Pod, what string, is func(*corev1.Pod) bool) *corev1.Pod {
	h.t.Helper()
	var last *corev1.Pod
	h.eventually(what, func() bool {
		got, err := h.client.Pods().Get(context.Background(), pod.Namespace, pod.Name)
		if apierrors.IsNotFound(err) {
			got = nil
		} else if err != nil {
			h.t.Fatal(err)
		}
		last = got
		return is(got)
	}, func() any { return last })
	return last
}

// eventually waits until is returns true, unless the node ends.
func (h *testNode) eventually(what string, is func() bool, state func() any) {
	h.t.Helper()
	await.Until(h.t, what, func() bool {
		select {
		case err := <-h.ended:
			h.ended <- err
			h.t.Fatalf("the node ended before %s: %v", what, err)
		default:
		}
		return is()
	}, func() string { return fmt.Sprintf("%+v", state()) })
}

// untilSeen waits until the informers have this version of the pod or a later one. They outlive the node in these
// tests. In a server that is restarted they are new, and have all that was ever written.
func (h *testNode) untilSeen(pod *corev1.Pod) {
	h.t.Helper()
	store := h.client.Pods().Informer().GetStore()
	h.eventually("the informer shows the pod", func() bool {
		obj, known, err := store.Get(pod)
		if err != nil || !known {
			return false
		}
		age, err := resourceversion.CompareResourceVersion(obj.(*corev1.Pod).ResourceVersion, pod.ResourceVersion)
		return err == nil && age >= 0
	}, func() any { return pod.Name })
}

func inPhase(phase corev1.PodPhase) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool { return p != nil && p.Status.Phase == phase }
}

func gone(p *corev1.Pod) bool { return p == nil }

func (h *testNode) untilForgotten(rt *scripted) {
	h.t.Helper()
	h.eventually("the runtime forgets", func() bool { return rt.held() == 0 }, func() any { return rt.held() })
}

// event returns the next event.
func (h *testNode) event() string {
	h.t.Helper()
	return await.Value(h.t, "an event", h.events.Events)
}

func condition(p *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}
