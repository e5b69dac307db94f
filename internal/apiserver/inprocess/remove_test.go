package inprocess_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/await"
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
	e := await.Value(t, "an event", w.ResultChan())
	if e.Type == watch.Added {
		e = await.Value(t, "another event", w.ResultChan()) // The first list may be older than the pod.
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
