package podgc_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/podstatus"
)

func TestTheOldestTerminatedPodsGo(t *testing.T) {
	w := start(t, 2)
	w.pod("runs")
	w.ended("a", "b", "c", "d")
	w.comesTo("c", "d", "runs")
	w.ended("e")
	w.comesTo("d", "e", "runs")
	if n := w.counted("force_delete_pods_total", "terminated"); n != 3 {
		t.Errorf("%d deletions are measured, want 3", n)
	}
}

func TestOfThePodsThatAreFoundAtTheStartTheOldestGo(t *testing.T) {
	w := open(t, 3)
	for i := range 30 {
		w.ended(fmt.Sprintf("p-%02d", i))
	}
	w.collect(w)
	w.comesTo("p-27", "p-28", "p-29")
}

func TestAPodGoesOnceItIsCounted(t *testing.T) {
	w := start(t, 1)
	uncounted := w.end(w.pod("a", with(batchv1.JobTrackingFinalizer)), corev1.PodFailed)
	w.ended("b", "c")
	w.comesTo("a", "c")
	if p := w.get("a"); p.DeletionTimestamp != nil {
		t.Error("a pod that is not counted is deleted")
	}
	w.release(uncounted)
	w.comesTo("c")
}

func TestAFinalizerOfAnotherControllerHoldsUpOnlyItsPod(t *testing.T) {
	w := start(t, 1)
	held := w.end(w.pod("a", with("example.com/hold")), corev1.PodFailed)
	w.ended("b", "c")
	w.comesTo("a", "c")
	w.release(held)
	w.comesTo("c")
	if n := w.counted("force_delete_pods_total", "terminated"); n != 2 {
		t.Errorf("%d deletions are measured, want 2", n)
	}
}

func TestPodsOfANodeThatIsGoneFailAndGo(t *testing.T) {
	w := start(t, 0) // Without a threshold, the other reasons hold all the same.
	stays, goes := w.node(), w.node()
	w.ended("old", "older")
	w.pod("there", on(stays))
	w.pod("held", on(goes), with(batchv1.JobTrackingFinalizer))
	w.pod("lost", on(goes))
	w.deleteNode(goes)
	w.after("the pods of the node are deleted", func() bool { return w.get("lost") == nil && w.get("held").DeletionTimestamp != nil })
	w.comesTo("held", "old", "older", "there")
	held := w.get("held")
	if c := podstatus.Condition(held, corev1.DisruptionTarget); held.Status.Phase != corev1.PodFailed || c == nil || c.Reason != "DeletionByPodGC" {
		t.Errorf("the status of a pod without its node is %+v", held.Status)
	}
	if n := w.counted("force_delete_pods_total", "orphaned"); n != 2 {
		t.Errorf("%d deletions are measured, want 2", n)
	}
}

func TestANodeThatIsRegisteredAnewKeepsItsPods(t *testing.T) {
	w := start(t, 0)
	again, goes := w.node(), w.node()
	w.pod("kept", on(again))
	w.deleteNode(again)
	anew := &corev1.Node{}
	anew.Name = again.Name
	if _, err := w.Nodes().Create(t.Context(), anew); err != nil {
		t.Fatal(err)
	}
	w.pod("lost", on(goes))
	w.deleteNode(goes)
	w.after("the pod without its node is deleted", func() bool { return w.get("lost") == nil })
	if p := w.get("kept"); p == nil || p.Status.Phase != corev1.PodPending {
		t.Errorf("the pod is %+v", p)
	}
}

// lateNodes are the real nodes, with an informer that shows none but one.
type lateNodes struct {
	client.Interface
	client.Resource[*corev1.Node]
	informer cache.SharedIndexInformer
}

func (l *lateNodes) Nodes() client.Resource[*corev1.Node] { return l }
func (l *lateNodes) Informer() cache.SharedIndexInformer  { return l.informer }

// listFirst is for an informer that begins with a list, and not with a watch that sends all objects.
type listFirst struct{ *cache.ListWatch }

func (listFirst) IsWatchListSemanticsUnSupported() bool { return true }

func TestANodeThatIsNotCachedKeepsItsPods(t *testing.T) {
	w := open(t, 0)
	cached, exists := w.node(), w.node()
	shown := cache.NewSharedIndexInformer(listFirst{&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &corev1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.Node{*cached}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
	}}, &corev1.Node{}, 0, nil)
	go shown.Run(t.Context().Done())
	w.collect(&lateNodes{Interface: w, Resource: w.Nodes(), informer: shown})
	gone := w.node()
	w.deleteNode(gone)
	w.pod("kept", on(exists))
	w.pod("lost", on(gone))
	w.after("the pod without its node is deleted", func() bool { return w.get("lost") == nil })
	if p := w.get("kept"); p == nil || p.Status.Phase != corev1.PodPending {
		t.Errorf("the pod is %+v", p)
	}
}

// A Job that replaces only failed pods would wait for such a pod for ever.
func TestADeletedPodThatNeverHadANodeFails(t *testing.T) {
	w := start(t, 0)
	p := w.pod("p", with(batchv1.JobTrackingFinalizer))
	w.delete(p)
	w.after("the pod fails", func() bool { return w.get("p").Status.Phase == corev1.PodFailed })
	if c := podstatus.Condition(w.get("p"), corev1.DisruptionTarget); c != nil {
		t.Errorf("it has the condition %+v", c)
	}
}

// flaky is the real resource of pods, but every other deletion fails.
type flaky struct {
	client.Interface
	client.Resource[*corev1.Pod]
	n atomic.Int32
}

func (f *flaky) Pods() client.Resource[*corev1.Pod] { return f }

func (f *flaky) Delete(ctx context.Context, p *corev1.Pod, o client.DeleteOptions) error {
	if f.n.Add(1)%2 == 1 {
		return errors.New("not now")
	}
	return f.Resource.Delete(ctx, p, o)
}

func TestADeletionThatFailedIsRetried(t *testing.T) {
	w := open(t, 1)
	w.collect(&flaky{Interface: w, Resource: w.Pods()})
	w.ended("a", "b")
	w.after("the oldest is deleted", func() bool { return w.get("a") == nil })
	w.comesTo("b")
	if n := w.counted("force_delete_pod_errors_total", "terminated"); n != 1 {
		t.Errorf("%d errors are measured, want 1", n)
	}
}
