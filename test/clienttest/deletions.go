package clienttest

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/await"
)

var deletions = []promise{
	{"Delete asks for the UID", func(w *world) {
		old := w.made(w.pod("a"))
		w.remove(old)
		if err := w.Pods().Delete(w.Context(), old, client.DeleteOptions{}); !apierrors.IsNotFound(err) {
			w.Errorf("gone: %v, want NotFound", err)
		}
		w.made(w.pod("a"))
		if err := w.Pods().Delete(w.Context(), old, client.DeleteOptions{}); !apierrors.IsConflict(err) {
			w.Errorf("another one: %v, want Conflict", err)
		}
	}},
	{"Delete of the unchanged refuses a newer version", func(w *world) {
		old := w.made(w.pod("a"))
		label := func(p *corev1.Pod) { p.Labels = map[string]string{"x": "y"} }
		newer := must(w.Pods().Modify(w.Context(), old, label))(w)
		if err := w.Pods().Delete(w.Context(), old, client.DeleteOptions{Unchanged: true}); !apierrors.IsConflict(err) {
			w.Errorf("as it was: %v, want Conflict", err)
		}
		if err := w.Pods().Delete(w.Context(), newer, client.DeleteOptions{Unchanged: true}); err != nil {
			w.Errorf("as it is: %v", err)
		}
	}},
	{"Delete passes the grace period on", func(w *world) {
		p := w.pod("a")
		p.Spec.NodeName = "nobody"
		p.Finalizers = []string{"example.com/f"}
		made := w.made(p)
		if err := w.Pods().Delete(w.Context(), made, client.DeleteOptions{GracePeriodSeconds: ptr.To[int64](7)}); err != nil {
			w.Fatal(err)
		}
		got := must(w.Pods().Get(w.Context(), w.namespace, "a"))(w)
		if got.DeletionGracePeriodSeconds == nil || *got.DeletionGracePeriodSeconds != 7 {
			w.Errorf("grace %v", got.DeletionGracePeriodSeconds)
		}
	}},
	{"Delete passes the propagation on", func(w *world) {
		made := must(w.Jobs().Create(w.Context(), w.job("a")))(w)
		if err := w.Jobs().Delete(w.Context(), made, client.DeleteOptions{Propagation: metav1.DeletePropagationForeground}); err != nil {
			w.Fatal(err)
		}
		got := must(w.Jobs().Get(w.Context(), w.namespace, "a"))(w)
		if len(got.Finalizers) != 1 || got.Finalizers[0] != metav1.FinalizerDeleteDependents {
			w.Errorf("finalizers %v", got.Finalizers)
		}
	}},
}

// shows must be the last promises that are tested, since they start the informers.
var shows = []promise{
	{"Informer is one and shows all that is stored, before its start and after", func(w *world) {
		informer := w.Pods().Informer()
		if w.Pods().Informer() != informer {
			w.Error("two informers")
		}
		shown := func(name string) *corev1.Pod {
			obj, found, err := informer.GetStore().GetByKey(w.namespace + "/" + name)
			if err != nil || !found {
				return nil
			}
			return obj.(*corev1.Pod)
		}
		w.made(w.pod("before"))
		w.start(w.Context())
		await.Until(w, "that the informer shows the first pod", func() bool { return shown("before") != nil })
		made := w.made(w.pod("after"))
		await.Until(w, "that the informer shows the second pod", func() bool { return shown("after") != nil })
		indexed := must(informer.GetIndexer().ByIndex(cache.NamespaceIndex, w.namespace))(w)
		if len(indexed) != 2 {
			w.Errorf("by namespace: %d objects", len(indexed))
		}
		// A controller starts from what its informer has cached, and from nothing else.
		must(w.Pods().Modify(w.Context(), shown("after"), func(p *corev1.Pod) { p.Labels = map[string]string{"x": "y"} }))(w)
		changed := must(w.Pods().Get(w.Context(), w.namespace, "after"))(w)
		if changed.Labels["x"] != "y" || len(changed.Spec.Containers) != 1 || changed.Spec.Containers[0].Image != "i" {
			w.Errorf("the change of a shown pod left labels %v and containers %v", changed.Labels, changed.Spec.Containers)
		}
		await.Until(w, "that the informer shows the change", func() bool { return shown("after").Labels["x"] == "y" })
		w.remove(made)
		await.Until(w, "that the informer drops the deleted pod", func() bool { return shown("after") == nil })
	}},
}
