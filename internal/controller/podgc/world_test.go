package podgc_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/podgc"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestMain(m *testing.M) { apiservertest.Main(m) }

// world is a namespace with a pod garbage collector. The test plays all others, and moves the clock.
type world struct {
	testing.TB
	client.Interface
	namespace string
	clock     *clocktesting.FakeClock
	metrics   *prometheus.Registry
	// collect starts the collector.
	collect func(podgc.Client)
}

// open returns a world whose collector does not run yet.
func open(t testing.TB, threshold int) *world {
	t.Helper()
	api := apiservertest.Shared(t)
	w := &world{TB: t, Interface: api.Client(), namespace: api.Namespace,
		clock: clocktesting.NewFakeClock(time.Now()), metrics: prometheus.NewRegistry()}
	w.collect = func(c podgc.Client) {
		api.Control(podgc.New(c, podgc.Options{Threshold: threshold, Registerer: w.metrics, Clock: w.clock}))
	}
	return w
}

func start(t testing.TB, threshold int) *world {
	t.Helper()
	w := open(t, threshold)
	w.collect(w)
	return w
}

func (w *world) pod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	w.Helper()
	p, err := w.Pods().Create(w.Context(), wrappers.MakePod(name).Namespace(w.namespace).Image("i").With(changes...).Obj())
	if err != nil {
		w.Fatal(err)
	}
	return p
}

func on(node *corev1.Node) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName = node.Name }
}

func with(finalizers ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Finalizers = finalizers }
}

func (w *world) end(p *corev1.Pod, phase corev1.PodPhase) *corev1.Pod {
	w.Helper()
	ended, err := w.Pods().ModifyStatus(w.Context(), p, func(p *corev1.Pod) { p.Status.Phase = phase })
	if err != nil {
		w.Fatal(err)
	}
	return ended
}

// ended makes pods that have succeeded, in this order.
func (w *world) ended(names ...string) {
	w.Helper()
	for _, name := range names {
		w.end(w.pod(name), corev1.PodSucceeded)
	}
}

func (w *world) release(p *corev1.Pod) {
	w.Helper()
	if _, err := w.Pods().Modify(w.Context(), p, func(p *corev1.Pod) { p.Finalizers = nil }); err != nil {
		w.Fatal(err)
	}
}

func (w *world) delete(p *corev1.Pod) {
	w.Helper()
	if err := w.Pods().Delete(w.Context(), p, client.DeleteOptions{}); err != nil {
		w.Fatal(err)
	}
}

// get returns the pod, or nil.
func (w *world) get(name string) *corev1.Pod {
	w.Helper()
	p, err := w.Pods().Get(w.Context(), w.namespace, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// comesTo waits until these pods are left.
func (w *world) comesTo(want ...string) {
	w.Helper()
	var got []string
	await.Until(w, "the pods that should be left are left", func() bool {
		got = nil
		if _, err := w.Pods().List(w.Context(), w.namespace, labels.Everything(), func(p *corev1.Pod) { got = append(got, p.Name) }); err != nil {
			w.Fatal(err)
		}
		return slices.Equal(got, want)
	}, func() string { return fmt.Sprintf("left: %v, want %v", got, want) })
}

// after moves the clock until ok.
func (w *world) after(what string, ok func() bool) {
	w.Helper()
	await.Until(w, what, func() bool {
		w.clock.Step(time.Minute)
		return ok()
	})
}

func (w *world) node() *corev1.Node {
	w.Helper()
	n, err := w.Nodes().Create(w.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "node-"}})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = w.Nodes().Delete(context.Background(), n, client.DeleteOptions{}) })
	return n
}

func (w *world) deleteNode(n *corev1.Node) {
	w.Helper()
	if err := w.Nodes().Delete(w.Context(), n, client.DeleteOptions{}); err != nil {
		w.Fatal(err)
	}
}

// counted returns a counter of the collector, of all namespaces.
func (w *world) counted(name, reason string) (n int) {
	w.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "pod_gc_collector_"+name && m.GetLabel()[1].GetValue() == reason {
				n += int(m.GetCounter().GetValue())
			}
		}
	}
	return n
}
