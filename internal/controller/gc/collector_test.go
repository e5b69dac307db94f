package gc_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/await"
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
	await.Until(w, "all dependents are gone", func() bool {
		left, err := w.CoreV1().ConfigMaps("default").List(w.Context(), metav1.ListOptions{})
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
	await.Until(w, "the free one is gone", func() bool { return !w.exists("free") })
	w.collects()
	if !w.exists("root") {
		t.Fatal("the owner went before a dependent that blocks it")
	}
	release := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := w.CoreV1().ConfigMaps("default").Patch(t.Context(), held.Name, types.MergePatchType, release, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	await.Until(w, "the owner is gone", func() bool { return !w.exists("root") })
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
	await.Until(w, "both are gone", func() bool { return !w.exists("a") && !w.exists("b") })
}

func TestOrphanDeletionLeavesDependentsWithoutTheReference(t *testing.T) {
	w := start(t)
	root, other := w.configMap("root"), w.configMap("other")
	w.configMap("child", by(root))
	w.configMap("shared", by(root), by(other))
	w.delete("root", metav1.DeletePropagationOrphan)
	await.Until(w, "the owner is gone", func() bool { return !w.exists("root") })
	late := w.configMap("late", by(root))
	w.collects()
	await.Until(w, "nobody names the owner", func() bool {
		for name, want := range map[string]int{"child": 0, "shared": 1, late.Name: 0} {
			cm, err := w.CoreV1().ConfigMaps("default").Get(w.Context(), name, metav1.GetOptions{})
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
	await.Until(w, "one reference is left", func() bool {
		cm, err := w.CoreV1().ConfigMaps("default").Get(w.Context(), "child", metav1.GetOptions{})
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
	await.Until(w, "both are gone", func() bool {
		return !w.exists("no-such-name") && !w.exists("another-uid")
	})
	if !w.exists("there") {
		t.Error("the object of that name went too")
	}
}

func TestAnOwnerOfAKindThatIsNotServedKeepsItsDependents(t *testing.T) {
	w := start(t)
	w.configMap("of-a-deployment", metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d", UID: "u"})
	w.collects()
	if !w.exists("of-a-deployment") {
		t.Error("it was collected, though nobody can tell whether its owner is there")
	}
}

func TestAJobOwnsByEitherOfItsVersions(t *testing.T) {
	w := start(t)
	job := w.jobWithPods(0)
	w.configMap("of-the-job", *metav1.NewControllerRef(job, v1beta1.SchemeGroupVersion.WithKind("Job")))
	w.collects()
	if !w.exists("of-the-job") {
		t.Fatal("it was collected, though its owner is there")
	}
	if err := w.direct.Jobs().Delete(t.Context(), job, client.DeleteOptions{Propagation: metav1.DeletePropagationBackground}); err != nil {
		t.Fatal(err)
	}
	await.Until(w, "it goes with the Job", func() bool { return !w.exists("of-the-job") })
}

func TestAnOwnerInAnotherNamespaceIsNoOwnerAndIsReported(t *testing.T) {
	w := start(t)
	owner, err := w.CoreV1().ConfigMaps("kube-public").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	await.Until(w, "the cache knows the owner", func() bool {
		return slices.ContainsFunc(w.direct.ConfigMaps().Informer().GetIndexer().ListKeys(),
			func(k string) bool { return k == "kube-public/elsewhere" })
	})
	child := w.configMap("child", by(owner))
	await.Until(w, "the child is gone", func() bool { return !w.exists(child.Name) })
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
	if !w.exists("child") {
		t.Fatal("the child went before its owner")
	}
	if err := w.CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await.Until(w, "the child is gone", func() bool { return !w.exists("child") })
}

func TestADependentMadeAfterItsOwnerWasDeletedIsCollected(t *testing.T) {
	w := start(t)
	root := w.configMap("root")
	w.delete("root", metav1.DeletePropagationBackground)
	w.configMap("late", by(root))
	await.Until(w, "the late one is gone", func() bool { return !w.exists("late") })
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
			await.Until(w, "the Job and its pods are gone", func() bool {
				_, err := w.BatchV1().Jobs("default").Get(w.Context(), job.Name, metav1.GetOptions{})
				return apierrors.IsNotFound(err) && len(w.direct.Pods().Informer().GetIndexer().ListKeys()) == 0
			})
		})
	}
}
