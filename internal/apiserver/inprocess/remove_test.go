package inprocess_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage/etcd3/metrics"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/wrappers"
)

const counted = "example.com/counted"

func holding(name string, finalizers ...string) *corev1.Pod {
	return wrappers.MakePod(name).Namespace("default").Image("i").Finalizers(finalizers...).Obj()
}

func TestAnObjectGoesWithItsLastFinalizerInOneWrite(t *testing.T) {
	pods, _ := start(t, t.TempDir())
	made := must(pods.Create(t.Context(), holding("p", counted)))(t)
	w := watchFromNow(t, pods)
	defer w.Stop()
	if err := pods.Delete(t.Context(), made, client.DeleteOptions{LastFinalizer: counted}); err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Get(t.Context(), "default", "p"); !apierrors.IsNotFound(err) {
		t.Errorf("it is there: %v", err)
	}
	e, _ := next(t, w)
	if e.Type == watch.Added {
		e, _ = next(t, w) // The first list may be older than the pod.
	}
	if e.Type != watch.Deleted || e.Object.(*corev1.Pod).UID != made.UID {
		t.Errorf("the watch shows %s of %s, want its deletion only", e.Type, e.Object.(*corev1.Pod).Name)
	}
	err := pods.Delete(t.Context(), made, client.DeleteOptions{LastFinalizer: counted})
	if !apierrors.IsNotFound(err) {
		t.Errorf("again: %v, want NotFound", err)
	}
}

func TestAnObjectStaysUnlessTheFinalizerIsItsOnlyOne(t *testing.T) {
	for sentence, finalizers := range map[string][]string{
		"another one keeps it":       {counted, "example.com/hold"},
		"another one alone keeps it": {"example.com/hold"},
		"it has none":                nil,
	} {
		t.Run(sentence, func(t *testing.T) {
			pods, _ := start(t, t.TempDir())
			made := must(pods.Create(t.Context(), holding("p", counted)))(t)
			changed := must(pods.Modify(t.Context(), made, func(p *corev1.Pod) { p.Finalizers = finalizers }))(t)
			// The caller does not know of the change.
			err := pods.Delete(t.Context(), made, client.DeleteOptions{LastFinalizer: counted})
			if !apierrors.IsConflict(err) {
				t.Errorf("it is deleted: %v, want Conflict", err)
			}
			if is := must(pods.Get(t.Context(), "default", "p"))(t); is.ResourceVersion != changed.ResourceVersion {
				t.Errorf("it has changed: %+v", is.ObjectMeta)
			}
		})
	}
}

func TestAnObjectOfAnotherUIDStays(t *testing.T) {
	pods, _ := start(t, t.TempDir())
	made := must(pods.Create(t.Context(), holding("p", counted)))(t)
	if err := pods.Delete(t.Context(), made, client.DeleteOptions{LastFinalizer: counted}); err != nil {
		t.Fatal(err)
	}
	must(pods.Create(t.Context(), holding("p", counted)))(t)
	if err := pods.Delete(t.Context(), made, client.DeleteOptions{LastFinalizer: counted}); !apierrors.IsConflict(err) {
		t.Errorf("it is deleted: %v, want Conflict", err)
	}
	must(pods.Get(t.Context(), "default", "p"))(t)
}

var unchanged = client.DeleteOptions{Unchanged: true, Propagation: metav1.DeletePropagationBackground}

func TestAVersionIsDeletedWithoutReadingIt(t *testing.T) {
	metrics.Register()
	jobs := apiservertest.Start(t, apiservertest.In(t.TempDir())).Client().Jobs()
	made := must(jobs.Create(t.Context(), wrappers.MakeJob("j").Namespace("default").Image("i").Obj()))(t)
	before := jobReads(t)
	if err := jobs.Delete(t.Context(), made, unchanged); err != nil {
		t.Fatal(err)
	}
	if n := jobReads(t) - before; n != 0 {
		t.Errorf("%v reads", n)
	}
	if err := jobs.Delete(t.Context(), made, unchanged); !apierrors.IsNotFound(err) {
		t.Errorf("again: %v, want NotFound", err)
	}
}

func TestOnlyTheVersionThatIsStoredIsDeleted(t *testing.T) {
	pods, _ := start(t, t.TempDir())
	made := must(pods.Create(t.Context(), holding("p")))(t)
	must(pods.Modify(t.Context(), made, func(p *corev1.Pod) { p.Finalizers = []string{counted} }))(t)
	if err := pods.Delete(t.Context(), made, unchanged); !apierrors.IsConflict(err) {
		t.Errorf("it is deleted: %v, want Conflict", err)
	}
	must(pods.Get(t.Context(), "default", "p"))(t)
}

func TestAVersionThatMayNotJustBeRemovedIsDeletedInSteps(t *testing.T) {
	for sentence, c := range map[string]struct {
		pod         *corev1.Pod
		propagation metav1.DeletionPropagation
		finalizers  []string
	}{
		"it has a finalizer": {pod: holding("p", counted), propagation: metav1.DeletePropagationBackground, finalizers: []string{counted}},
		"it runs on a node":  {pod: onNode(holding("p")), propagation: metav1.DeletePropagationBackground},
		"its dependents go first": {pod: holding("p"), propagation: metav1.DeletePropagationForeground,
			finalizers: []string{metav1.FinalizerDeleteDependents}},
	} {
		t.Run(sentence, func(t *testing.T) {
			pods, _ := start(t, t.TempDir())
			made := must(pods.Create(t.Context(), c.pod))(t)
			if err := pods.Delete(t.Context(), made, client.DeleteOptions{Unchanged: true, Propagation: c.propagation}); err != nil {
				t.Fatal(err)
			}
			is := must(pods.Get(t.Context(), "default", "p"))(t)
			if is.DeletionTimestamp == nil || !slices.Equal(is.Finalizers, c.finalizers) {
				t.Errorf("deleted %v, finalizers %q, want %q", is.DeletionTimestamp, is.Finalizers, c.finalizers)
			}
		})
	}
}

func onNode(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.NodeName = "node"
	return pod
}

func TestANamespaceIsNotJustRemoved(t *testing.T) {
	namespaces := apiservertest.Start(t, apiservertest.In(t.TempDir())).Client().Namespaces()
	made := must(namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}))(t)
	if err := namespaces.Delete(t.Context(), made, unchanged); err != nil {
		t.Fatal(err)
	}
	if is := must(namespaces.Get(t.Context(), "", "n"))(t); is.Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("it is %s", is.Status.Phase)
	}
}
