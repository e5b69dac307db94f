package gc_test

import (
	"context"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/gc"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

// world is a server with a collector. Clientset reaches it over HTTP as users do, direct within the process.
type world struct {
	testing.TB
	*kubernetes.Clientset
	direct client.Interface
	events *record.FakeRecorder
	dir    string
	stop   func()
}

func start(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t, dir: t.TempDir()}
	w.up(true)
	t.Cleanup(func() { w.stop() })
	return w
}

// restart stops the server and starts another one on the same data directory, with a collector or without.
func (w *world) restart(collect bool) {
	w.Helper()
	w.stop()
	w.up(collect)
}

func (w *world) up(collect bool) {
	w.Helper()
	api := apiservertest.Start(w.TB, apiservertest.In(w.dir))
	w.direct, w.events, w.Clientset = api.Client(), record.NewFakeRecorder(1000), api.Clientset()
	stopCollector := func() {}
	if collect {
		stopCollector = api.Control(gc.New(api.Client(), w.events))
	}
	w.stop = func() {
		stopCollector()
		api.Stop()
	}
}

func (w *world) configMap(name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	w.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}
	made, err := w.CoreV1().ConfigMaps("default").Create(context.Background(), cm, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return made
}

func (w *world) exists(name string) bool {
	w.Helper()
	_, err := w.CoreV1().ConfigMaps("default").Get(w.Context(), name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		w.Fatal(err)
	}
	return err == nil
}

func (w *world) delete(name string, how metav1.DeletionPropagation) {
	w.Helper()
	err := w.CoreV1().ConfigMaps("default").Delete(context.Background(), name, metav1.DeleteOptions{PropagationPolicy: &how})
	if err != nil {
		w.Fatal(err)
	}
}

// collects creates garbage and waits until the collector has deleted it. If the collector was about to delete an object by
// mistake, it has done so by then.
func (w *world) collects() {
	w.Helper()
	w.configMap("garbage", absent("cm", "garbage-of"))
	await.Until(w, "garbage is collected", func() bool { return !w.exists("garbage") })
}

func by(cm *corev1.ConfigMap) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: cm.Name, UID: cm.UID}
}

func blocking(ref metav1.OwnerReference) metav1.OwnerReference {
	yes := true
	ref.BlockOwnerDeletion = &yes
	return ref
}

func absent(name string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: uid}
}

func (w *world) jobWithPods(n int) *batchv1.Job {
	w.Helper()
	job, err := w.direct.Jobs().Create(context.Background(), wrappers.MakeJob("job").Namespace("default").Command("true").Obj())
	if err != nil {
		w.Fatal(err)
	}
	for i := range n {
		pod := wrappers.MakePodOf(job, fmt.Sprint("pod", i)).Obj()
		if _, err := w.direct.Pods().Create(context.Background(), pod); err != nil {
			w.Fatal(err)
		}
	}
	return job
}
