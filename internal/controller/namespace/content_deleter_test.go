package namespace_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/controller/namespace"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestMain(m *testing.M) { apiservertest.Main(m) }

// world is a namespace to delete on a server with a ContentDeleter. Clientset reaches it over HTTP as users do.
type world struct {
	testing.TB
	*kubernetes.Clientset
	doomed string
}

func start(t testing.TB) *world {
	t.Helper()
	api := apiservertest.Shared(t)
	api.Control(namespace.New(api.Client()))
	return &world{TB: t, Clientset: api.Clientset(), doomed: api.Namespace}
}

func (w *world) namespace(name string) {
	w.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := w.CoreV1().Namespaces().Create(context.Background(), ns, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) fill() {
	w.Helper()
	ctx, ns := context.Background(), w.doomed
	meta := metav1.ObjectMeta{Name: "x"}
	held := wrappers.MakePod("held").Finalizers("example.com/hold").Command("true").Obj()
	_, err1 := w.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})
	_, err2 := w.CoreV1().Secrets(ns).Create(ctx, &corev1.Secret{ObjectMeta: meta}, metav1.CreateOptions{})
	_, err3 := w.BatchV1().Jobs(ns).Create(ctx, wrappers.MakeJob("x").Command("true").Obj(), metav1.CreateOptions{})
	_, err4 := w.CoreV1().Pods(ns).Create(ctx, wrappers.MakePod("x").Command("true").Obj(), metav1.CreateOptions{})
	_, err5 := w.CoreV1().Pods(ns).Create(ctx, held, metav1.CreateOptions{})
	for _, err := range []error{err1, err2, err3, err4, err5} {
		if err != nil {
			w.Fatal(err)
		}
	}
}

func (w *world) delete(name string) {
	w.Helper()
	if err := w.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) condition(kind corev1.NamespaceConditionType) (c corev1.NamespaceCondition) {
	w.Helper()
	ns, err := w.CoreV1().Namespaces().Get(w.Context(), w.doomed, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	for _, c := range ns.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return c
}

func (w *world) gone() bool {
	_, err := w.CoreV1().Namespaces().Get(w.Context(), w.doomed, metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}

func TestAnEmptyNamespaceGoes(t *testing.T) {
	w := start(t)
	w.delete(w.doomed)
	await.Until(w, "the namespace is gone", w.gone)
}

func TestANamespaceGoesOnceWhatIsInItIsGone(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	w.fill()
	other := apiservertest.Shared(t).Namespace
	if _, err := w.CoreV1().ConfigMaps(other).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.delete(w.doomed)
	await.Until(w, "the namespace says what holds it", func() bool {
		left := w.condition(corev1.NamespaceContentRemaining)
		held := w.condition(corev1.NamespaceFinalizersRemaining)
		return left.Message == "Some resources are remaining: pods. has 1 resource instances" &&
			held.Message == "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
	})
	if _, err := w.BatchV1().Jobs(w.doomed).Get(ctx, "x", metav1.GetOptions{}); err != nil {
		t.Errorf("all else waits for the pods, but the Job: %v", err)
	}
	release := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := w.CoreV1().Pods(w.doomed).Patch(ctx, "held", types.MergePatchType, release, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	await.Until(w, "the namespace is gone", w.gone)
	w.namespace(w.doomed)
	for what, get := range map[string]func() error{
		"config map": func() error {
			_, err := w.CoreV1().ConfigMaps(w.doomed).Get(ctx, "x", metav1.GetOptions{})
			return err
		},
		"job": func() error {
			_, err := w.BatchV1().Jobs(w.doomed).Get(ctx, "x", metav1.GetOptions{})
			return err
		},
	} {
		if err := get(); !apierrors.IsNotFound(err) {
			t.Errorf("the %s outlived its namespace: %v", what, err)
		}
	}
	if _, err := w.CoreV1().ConfigMaps(other).Get(ctx, "x", metav1.GetOptions{}); err != nil {
		t.Errorf("another namespace lost something: %v", err)
	}
}

func TestANamespaceWithAnotherFinalizerStaysAndSaysThatItIsEmpty(t *testing.T) {
	w := start(t)
	hold := []byte(`{"metadata":{"finalizers":["example.com/hold"]}}`)
	if _, err := w.CoreV1().Namespaces().Patch(t.Context(), w.doomed, types.MergePatchType, hold, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.delete(w.doomed)
	await.Until(w, "the namespace is finalized", func() bool {
		ns, err := w.CoreV1().Namespaces().Get(w.Context(), w.doomed, metav1.GetOptions{})
		if err != nil {
			t.Fatalf("it must stay: %v", err)
		}
		return len(ns.Spec.Finalizers) == 0
	})
	if c := w.condition(corev1.NamespaceContentRemaining); c.Status != corev1.ConditionFalse {
		t.Errorf("condition %+v of an empty namespace", c)
	}
	release := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := w.CoreV1().Namespaces().Patch(t.Context(), w.doomed, types.MergePatchType, release, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	await.Until(w, "the namespace is gone", w.gone)
}
