package gc_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/gc"
	"github.com/stint-dev/stint/internal/store"
)

// deadline bounds every wait of a test.
const deadline = 20 * time.Second

// world is a server with a collector, and a client that comes over HTTP as users do.
type world struct {
	testing.TB
	*kubernetes.Clientset
	direct client.Interface
	events *record.FakeRecorder
}

func start(t testing.TB) *world {
	t.Helper()
	dir := t.TempDir()
	st, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	api, err := apiserver.New(apiserver.Config{DataDir: dir, Store: st})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, direct: api.Client(), events: record.NewFakeRecorder(100)}
	collector := gc.New(api.Client(), w.events)
	ctx, cancel := context.WithCancel(context.Background())
	serving, collecting := make(chan error, 1), make(chan error, 1)
	go func() { serving <- api.Run(ctx) }()
	select {
	case <-api.Ready():
	case err := <-serving:
		t.Fatalf("the server ended: %v", err)
	}
	if err := api.StartInformers(ctx); err != nil {
		t.Fatal(err)
	}
	collected, stopCollector := context.WithCancel(ctx)
	go func() { collecting <- collector.Run(collected) }()
	t.Cleanup(func() {
		stopCollector()
		if err := <-collecting; err != nil {
			t.Errorf("collector: %v", err)
		}
		cancel()
		if err := <-serving; err != nil {
			t.Errorf("server: %v", err)
		}
		if err := st.Close(); err != nil {
			t.Errorf("store: %v", err)
		}
	})
	if w.Clientset, err = kubernetes.NewForConfig(api.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	return w
}

// eventually polls until done.
func (w *world) eventually(what string, done func(ctx context.Context) bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	for !done(ctx) {
		select {
		case <-ctx.Done():
			w.Fatalf("not within %v: %s", deadline, what)
		case <-time.After(5 * time.Millisecond):
		}
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

func (w *world) exists(ctx context.Context, name string) bool {
	w.Helper()
	_, err := w.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
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

// collects makes sure that the collector is alive: it must take garbage that is made now. What it would have done
// wrong before that it has done by then.
func (w *world) collects() {
	w.Helper()
	w.configMap("garbage", absent("cm", "garbage-of"))
	w.eventually("garbage is collected", func(ctx context.Context) bool { return !w.exists(ctx, "garbage") })
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

func TestBackgroundDeletionTakesTheWholeTree(t *testing.T) {
	w := start(t)
	root := w.configMap("root")
	for i := range 5 {
		child := w.configMap(fmt.Sprint("child", i), by(root))
		w.configMap(fmt.Sprint("grandchild", i), by(child))
	}
	w.configMap("bystander")
	w.delete("root", metav1.DeletePropagationBackground)
	w.eventually("all dependents are gone", func(ctx context.Context) bool {
		left, err := w.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return len(left.Items) == 1 && left.Items[0].Name == "bystander"
	})
}

func TestForegroundDeletionKeepsTheOwnerUntilBlockingDependentsAreGone(t *testing.T) {
	w := start(t)
	root := w.configMap("root")
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/hold"},
		OwnerReferences: []metav1.OwnerReference{blocking(by(root))}}}
	held, err := w.CoreV1().ConfigMaps("default").Create(t.Context(), held, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.configMap("free", blocking(by(root)))
	w.delete("root", metav1.DeletePropagationForeground)
	w.eventually("the free one is gone", func(ctx context.Context) bool { return !w.exists(ctx, "free") })
	w.collects()
	if !w.exists(t.Context(), "root") {
		t.Fatal("the owner went before a dependent that blocks it")
	}
	release := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := w.CoreV1().ConfigMaps("default").Patch(t.Context(), held.Name, types.MergePatchType, release, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the owner is gone", func(ctx context.Context) bool { return !w.exists(ctx, "root") })
}

func TestForegroundDeletionOfACycleEnds(t *testing.T) {
	w := start(t)
	a := w.configMap("a")
	b := w.configMap("b", blocking(by(a)))
	a.OwnerReferences = []metav1.OwnerReference{blocking(by(b))}
	if _, err := w.CoreV1().ConfigMaps("default").Update(t.Context(), a, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.delete("a", metav1.DeletePropagationForeground)
	w.eventually("both are gone", func(ctx context.Context) bool { return !w.exists(ctx, "a") && !w.exists(ctx, "b") })
}

func TestOrphanDeletionLeavesDependentsWithoutTheReference(t *testing.T) {
	w := start(t)
	root, other := w.configMap("root"), w.configMap("other")
	w.configMap("child", by(root))
	w.configMap("shared", by(root), by(other))
	w.delete("root", metav1.DeletePropagationOrphan)
	w.eventually("the owner is gone", func(ctx context.Context) bool { return !w.exists(ctx, "root") })
	late := w.configMap("late", by(root))
	w.collects()
	w.eventually("nobody names the owner", func(ctx context.Context) bool {
		for name, want := range map[string]int{"child": 0, "shared": 1, late.Name: 0} {
			cm, err := w.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				t.Fatalf("%s must stay: %v", name, err)
			}
			if len(cm.OwnerReferences) != want {
				return false
			}
		}
		return true
	})
}

func TestAnObjectWithTwoOwnersLosesOnlyTheReferenceToTheOneThatIsGone(t *testing.T) {
	w := start(t)
	a, b := w.configMap("a"), w.configMap("b")
	w.configMap("child", by(a), by(b))
	w.delete("a", metav1.DeletePropagationBackground)
	w.eventually("one reference is left", func(ctx context.Context) bool {
		cm, err := w.CoreV1().ConfigMaps("default").Get(ctx, "child", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return len(cm.OwnerReferences) == 1 && cm.OwnerReferences[0].UID == b.UID
	})
}

func TestWhatNamesAnOwnerThatNeverWasIsCollected(t *testing.T) {
	w := start(t)
	there := w.configMap("there")
	w.configMap("no-such-name", absent("nowhere", "nobody"))
	w.configMap("another-uid", absent(there.Name, "somebody-else"))
	w.eventually("both are gone", func(ctx context.Context) bool {
		return !w.exists(ctx, "no-such-name") && !w.exists(ctx, "another-uid")
	})
	if !w.exists(t.Context(), "there") {
		t.Error("the object of that name went too")
	}
}

func TestAnOwnerOfAKindThatIsNotServedKeepsItsDependents(t *testing.T) {
	w := start(t)
	w.configMap("of-a-deployment", metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d", UID: "u"})
	w.collects()
	if !w.exists(t.Context(), "of-a-deployment") {
		t.Error("it was collected, though nobody can tell whether its owner is there")
	}
}

func TestAnOwnerInAnotherNamespaceIsNoOwnerAndIsReported(t *testing.T) {
	w := start(t)
	owner, err := w.CoreV1().ConfigMaps("kube-public").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.eventually("the cache knows the owner", func(context.Context) bool {
		return slices.ContainsFunc(w.direct.ConfigMaps().Informer().GetIndexer().ListKeys(),
			func(k string) bool { return k == "kube-public/elsewhere" })
	})
	child := w.configMap("child", by(owner))
	w.eventually("the child is gone", func(ctx context.Context) bool { return !w.exists(ctx, child.Name) })
	want := fmt.Sprintf("Warning OwnerRefInvalidNamespace ownerRef [v1/ConfigMap, namespace: default, "+
		"name: elsewhere, uid: %s] does not exist in namespace \"default\"", owner.UID)
	select {
	case got := <-w.events.Events:
		if got != want {
			t.Errorf("event %q, want %q", got, want)
		}
	default:
		t.Error("nothing was reported")
	}
}

func TestAClusterScopedOwnerOwnsInAnyNamespace(t *testing.T) {
	w := start(t)
	node, err := w.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ref := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}
	w.configMap("child", ref)
	w.collects()
	if !w.exists(t.Context(), "child") {
		t.Fatal("the child went before its owner")
	}
	if err := w.CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the child is gone", func(ctx context.Context) bool { return !w.exists(ctx, "child") })
}

func TestADependentMadeAfterItsOwnerWasDeletedIsCollected(t *testing.T) {
	w := start(t)
	root := w.configMap("root")
	w.delete("root", metav1.DeletePropagationBackground)
	w.configMap("late", by(root))
	w.eventually("the late one is gone", func(ctx context.Context) bool { return !w.exists(ctx, "late") })
}

func TestDeletingAJobDeletesItsPods(t *testing.T) {
	for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(how), func(t *testing.T) {
			w := start(t)
			job := w.jobWithPods(200)
			err := w.BatchV1().Jobs("default").Delete(t.Context(), job.Name, metav1.DeleteOptions{PropagationPolicy: &how})
			if err != nil {
				t.Fatal(err)
			}
			w.eventually("the Job and its pods are gone", func(ctx context.Context) bool {
				_, err := w.BatchV1().Jobs("default").Get(ctx, job.Name, metav1.GetOptions{})
				return apierrors.IsNotFound(err) && len(w.direct.Pods().Informer().GetIndexer().ListKeys()) == 0
			})
		})
	}
}

func (w *world) jobWithPods(n int) *batchv1.Job {
	w.Helper()
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "c", Image: "i", Command: []string{"true"}}}}}
	job, err := w.direct.Jobs().Create(context.Background(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: "default"}, Spec: batchv1.JobSpec{Template: template}})
	if err != nil {
		w.Fatal(err)
	}
	for i := range n {
		pod := &corev1.Pod{Spec: template.Spec, ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("pod", i), Namespace: "default",
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}}}
		if _, err := w.direct.Pods().Create(context.Background(), pod); err != nil {
			w.Fatal(err)
		}
	}
	return job
}
