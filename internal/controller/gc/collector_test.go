package gc_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
	"github.com/stint-dev/stint/internal/client"
)

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

func TestAJobOwnsByEitherOfItsVersions(t *testing.T) {
	w := start(t)
	job := w.jobWithPods(0)
	w.configMap("of-the-job", *metav1.NewControllerRef(job, v1beta1.SchemeGroupVersion.WithKind("Job")))
	w.collects()
	if !w.exists(t.Context(), "of-the-job") {
		t.Fatal("it was collected, though its owner is there")
	}
	if err := w.direct.Jobs().Delete(t.Context(), job, client.DeleteOptions{Propagation: metav1.DeletePropagationBackground}); err != nil {
		t.Fatal(err)
	}
	w.eventually("it goes with the Job", func(ctx context.Context) bool { return !w.exists(ctx, "of-the-job") })
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
