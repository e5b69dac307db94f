package apiserver_test

import (
	"context"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

func job(name string) *batchv1.Job {
	return wrappers.MakeJob(name).Namespace("default").Command("true").Obj()
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestTheInProcessClientDefaultsValidatesAndAdmits(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	jobs := r.Client().Jobs()

	made := must[*batchv1.Job](t)(jobs.Create(ctx, job("a")))
	if made.Spec.BackoffLimit == nil || *made.Spec.BackoffLimit != 6 {
		t.Errorf("backoffLimit %v, want the default", made.Spec.BackoffLimit)
	}
	if made.Spec.Selector == nil || made.UID == "" || made.ResourceVersion == "" {
		t.Errorf("selector %v, UID %q, version %q", made.Spec.Selector, made.UID, made.ResourceVersion)
	}

	bad := job("b")
	bad.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	if _, err := jobs.Create(ctx, bad); !apierrors.IsInvalid(err) {
		t.Errorf("a bad Job: %v, want Invalid", err)
	}
	if _, err := jobs.Create(ctx, job("a")); !apierrors.IsAlreadyExists(err) {
		t.Errorf("the same name again: %v, want AlreadyExists", err)
	}
	lost := job("c")
	lost.Namespace = "nowhere"
	if _, err := jobs.Create(ctx, lost); !apierrors.IsNotFound(err) {
		t.Errorf("a missing namespace: %v, want NotFound", err)
	}
}

func TestModifyWritesOnceAndOnlyWhatItMay(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	pods := r.Client().Pods()
	made := must[*corev1.Pod](t)(pods.Create(ctx, pod("a")))

	labelled := must[*corev1.Pod](t)(pods.Modify(ctx, made, func(p *corev1.Pod) {
		p.Labels = map[string]string{"x": "y"}
		p.Status.Phase = corev1.PodRunning
	}))
	if labelled.Labels["x"] != "y" || labelled.Status.Phase != corev1.PodPending {
		t.Errorf("labels %v, phase %s", labelled.Labels, labelled.Status.Phase)
	}
	// made is stale now, but the change is applied to the newest version.
	running := must[*corev1.Pod](t)(pods.ModifyStatus(ctx, made, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodRunning
		p.Spec.NodeName = "here"
	}))
	if running.Labels["x"] != "y" || running.Status.Phase != corev1.PodRunning || running.Spec.NodeName != "here" {
		t.Errorf("labels %v, phase %s, node %q", running.Labels, running.Status.Phase, running.Spec.NodeName)
	}
	moved := must[*corev1.Pod](t)(pods.ModifyStatus(ctx, running, func(p *corev1.Pod) { p.Spec.NodeName = "there" }))
	if moved.Spec.NodeName != "here" {
		t.Errorf("a bound pod moved to %q", moved.Spec.NodeName)
	}
	same := must[*corev1.Pod](t)(pods.ModifyStatus(ctx, moved, func(*corev1.Pod) {}))
	if same.ResourceVersion != moved.ResourceVersion {
		t.Errorf("no change moved the version from %s to %s", moved.ResourceVersion, same.ResourceVersion)
	}

	other := moved.DeepCopy()
	other.UID = "another"
	if _, err := pods.Modify(ctx, other, func(*corev1.Pod) {}); !apierrors.IsNotFound(err) {
		t.Errorf("another pod of this name: %v, want NotFound", err)
	}
	if _, err := pods.Modify(ctx, pod("gone"), func(*corev1.Pod) {}); !apierrors.IsNotFound(err) {
		t.Errorf("a pod that is not there: %v, want NotFound", err)
	}
	if _, err := pods.UpdateStatus(ctx, made); !apierrors.IsConflict(err) {
		t.Errorf("a stale status: %v, want Conflict", err)
	}
}

func TestTakingTheLastFinalizerOffADeletedPodRemovesIt(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	pods := r.Client().Pods()
	p := pod("a")
	p.Finalizers = []string{batchv1.JobTrackingFinalizer}
	made := must[*corev1.Pod](t)(pods.Create(ctx, p))
	if err := pods.Delete(ctx, made, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	held := must[*corev1.Pod](t)(pods.Get(ctx, "default", "a"))
	if held.DeletionTimestamp == nil {
		t.Error("the finalizer held no deletion")
	}
	// A cache may still show the pod as it was before its deletion.
	if _, err := pods.Modify(ctx, made, func(p *corev1.Pod) { p.Finalizers = nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Get(ctx, "default", "a"); !apierrors.IsNotFound(err) {
		t.Errorf("get: %v, want NotFound", err)
	}
}

// The library needs two writes to delete a pod that has a grace period. If the request ended between them, the pod would
// never be deleted.
func TestADeletionOfAPodIsNotCutOffWhenTheClientLeaves(t *testing.T) {
	r := start(t)
	pods := r.Client().Pods()
	p := pod("a")
	p.Spec.NodeName = "n"
	made := must[*corev1.Pod](t)(pods.Create(t.Context(), p))
	if err := pods.Delete(t.Context(), made, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if err := pods.Delete(left, made, client.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Get(t.Context(), "default", "a"); !apierrors.IsNotFound(err) {
		t.Errorf("get: %v, want NotFound", err)
	}
}

func TestInformersFollowTheStore(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	pods := r.Client().Pods()
	must[*corev1.Pod](t)(pods.Create(ctx, pod("before")))
	// This list waits until the watch cache, from which informers are filled, has the pod.
	must[*corev1.PodList](t)(r.clientset(t).CoreV1().Pods("default").List(ctx, metav1.ListOptions{}))
	informer := pods.Informer()
	if err := r.StartInformers(ctx); err != nil {
		t.Fatal(err)
	}
	if got := informer.GetStore().ListKeys(); len(got) != 1 {
		t.Fatalf("after the start: %v", got)
	}
	made := must[*corev1.Pod](t)(pods.Create(ctx, pod("after")))
	await.Until(t, "the informer shows the new pod", func() bool {
		_, ok, _ := informer.GetStore().GetByKey("default/after")
		return ok
	})
	inNamespace, err := informer.GetIndexer().ByIndex(cache.NamespaceIndex, "default")
	if err != nil || len(inNamespace) != 2 {
		t.Errorf("by namespace: %d objects, %v", len(inNamespace), err)
	}
	if err := pods.Delete(ctx, made, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the informer drops the deleted pod", func() bool {
		_, ok, _ := informer.GetStore().GetByKey("default/after")
		return !ok
	})
}

// Informers have only the metadata of kinds that are not cached. A change that starts from such an object keeps the rest.
func TestAChangeOfAnUncachedObjectKeepsWhatItsInformerLeftOut(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	slices := r.Client().ResultSlices()
	informer := slices.Informer()
	if err := r.StartInformers(ctx); err != nil {
		t.Fatal(err)
	}
	must[*stintv1.ResultSlice](t)(slices.Create(ctx, &stintv1.ResultSlice{
		ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "default"}, Results: []stintv1.PodResult{{Pod: "p", UID: "1", Phase: corev1.PodFailed}},
	}))
	var shown *stintv1.ResultSlice
	await.Until(t, "the informer shows the slice", func() bool {
		obj, ok, _ := informer.GetStore().GetByKey("default/s")
		shown, _ = obj.(*stintv1.ResultSlice)
		return ok
	})
	if len(shown.Results) != 0 || shown.UID == "" {
		t.Errorf("the informer has %d results and the UID %q, want only metadata", len(shown.Results), shown.UID)
	}
	after := must[*stintv1.ResultSlice](t)(slices.Modify(ctx, shown, func(s *stintv1.ResultSlice) { s.Finalizers = []string{"example.com/f"} }))
	if len(after.Results) != 1 || len(after.Finalizers) != 1 {
		t.Errorf("after the change: results %v, finalizers %v", after.Results, after.Finalizers)
	}
}

func TestEmptyingSpecFinalizersEndsATerminatingNamespace(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	namespaces := r.Client().Namespaces()
	ns := must[*corev1.Namespace](t)(namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}))
	if err := namespaces.Delete(ctx, ns, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	terminating := must[*corev1.Namespace](t)(namespaces.Get(ctx, "", "n"))
	if terminating.Status.Phase != corev1.NamespaceTerminating || terminating.DeletionTimestamp == nil {
		t.Errorf("phase %s, deletion %v", terminating.Status.Phase, terminating.DeletionTimestamp)
	}
	late := pod("late")
	late.Namespace = "n"
	_, err := r.Client().Pods().Create(ctx, late)
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("create in it: %v, want the cause NamespaceTerminating", err)
	}
	if _, err := namespaces.Modify(ctx, terminating, func(n *corev1.Namespace) { n.Spec.Finalizers = nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := namespaces.Get(ctx, "", "n"); !apierrors.IsNotFound(err) {
		t.Errorf("get: %v, want NotFound", err)
	}
}

func TestKindsCoverWhatOwnsOrIsOwned(t *testing.T) {
	r := start(t)
	seen := map[string]bool{}
	for _, k := range r.Client().Kinds() {
		seen[k.Kind] = k.Namespaced
		if k.Informer() == nil {
			t.Errorf("%s has no informer", k.Kind)
		}
	}
	for kind, namespaced := range map[string]bool{"Pod": true, "Job": true, "CronJob": true, "Secret": true, "Namespace": false, "Node": false} {
		if got, ok := seen[kind]; !ok || got != namespaced {
			t.Errorf("%s: listed %v, namespaced %v", kind, ok, got)
		}
	}
	if _, ok := seen["Event"]; ok {
		t.Error("events are listed, which go by themselves")
	}
}

func TestAListShowsWhatWasJustWritten(t *testing.T) {
	r := start(t)
	pods := r.Client().Pods()
	count := func(namespace string) (n int) {
		t.Helper()
		if _, err := pods.List(t.Context(), namespace, labels.Everything(), func(*corev1.Pod) { n++ }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i := range 20 {
		must[*corev1.Pod](t)(pods.Create(t.Context(), pod(fmt.Sprintf("p%d", i))))
		if got := count("default"); got != i+1 {
			t.Fatalf("after %d pods the list shows %d", i+1, got)
		}
	}
	if got := count("kube-system"); got != 0 {
		t.Errorf("another namespace shows %d", got)
	}
}

func TestADeletionOfTheUnchangedRefusesANewerVersion(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	pods := r.Client().Pods()
	old := must[*corev1.Pod](t)(pods.Create(ctx, pod("a")))
	newer := must[*corev1.Pod](t)(pods.Modify(ctx, old, func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }))
	if err := pods.Delete(ctx, old, client.DeleteOptions{Unchanged: true}); !apierrors.IsConflict(err) {
		t.Errorf("as it was: %v, want Conflict", err)
	}
	if err := pods.Delete(ctx, newer, client.DeleteOptions{Unchanged: true}); err != nil {
		t.Errorf("as it is: %v", err)
	}
}
