package apiserver_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
)

// bothVersions are clients of the two versions for the same Jobs.
type bothVersions struct{ batch, old dynamic.ResourceInterface }

func jobsOf(t testing.TB, config *rest.Config) bothVersions {
	t.Helper()
	c := must[*dynamic.DynamicClient](t)(dynamic.NewForConfig(config))
	in := func(gv schema.GroupVersion) dynamic.ResourceInterface {
		return c.Resource(gv.WithResource("jobs")).Namespace("default")
	}
	return bothVersions{batch: in(batchv1.SchemeGroupVersion), old: in(v1beta1.SchemeGroupVersion)}
}

// manifest returns a suspended Job of a version, with additional fields in its spec.
func manifest(gv schema.GroupVersion, name string, spec map[string]any) *unstructured.Unstructured {
	template := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": name}},
		"spec": map[string]any{
			"restartPolicy": "Never",
			"containers":    []any{map[string]any{"name": "c", "image": "i"}},
		},
	}
	all := map[string]any{"suspend": true, "template": template}
	for field, value := range spec {
		all[field] = value
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}, "spec": all}}
	obj.SetGroupVersionKind(gv.WithKind("Job"))
	return obj
}

// selection is how a Job selects its pods, as a client sees it.
type selection struct {
	Field     any
	Generated bool
	App       string
}

func selectionOf(t testing.TB, job *unstructured.Unstructured) selection {
	t.Helper()
	mine, others := "autoSelector", "manualSelector"
	if job.GetAPIVersion() == "batch/v1" {
		mine, others = others, mine
	}
	if text := string(must[[]byte](t)(job.MarshalJSON())); strings.Contains(text, others) {
		t.Errorf("a client of %s sees the other version's field: %s", job.GetAPIVersion(), text)
	}
	field, _, _ := unstructured.NestedFieldNoCopy(job.Object, "spec", mine)
	labels, _, _ := unstructured.NestedStringMap(job.Object, "spec", "selector", "matchLabels")
	return selection{Field: field, Generated: labels["batch.kubernetes.io/controller-uid"] == string(job.GetUID()), App: labels["app"]}
}

func TestAJobReadsNaturallyInEitherVersion(t *testing.T) {
	selecting := func(field string, value bool, name string) map[string]any {
		return map[string]any{field: value, "selector": map[string]any{"matchLabels": map[string]any{"app": name}}}
	}
	jobs := jobsOf(t, apiservertest.Start(t).RESTConfig())
	for name, c := range map[string]struct {
		created    schema.GroupVersion
		spec       map[string]any
		batch, old selection
	}{
		"v1-null": {batchv1.SchemeGroupVersion, nil,
			selection{Generated: true}, selection{Field: true, Generated: true}},
		"v1-false": {batchv1.SchemeGroupVersion, map[string]any{"manualSelector": false},
			selection{Field: false, Generated: true}, selection{Field: true, Generated: true}},
		"v1-true": {batchv1.SchemeGroupVersion, selecting("manualSelector", true, "v1-true"),
			selection{Field: true, App: "v1-true"}, selection{App: "v1-true"}},
		"v1beta1-null": {v1beta1.SchemeGroupVersion, nil,
			selection{Field: true, App: "v1beta1-null"}, selection{App: "v1beta1-null"}},
		"v1beta1-false": {v1beta1.SchemeGroupVersion, map[string]any{"autoSelector": false},
			selection{Field: true, App: "v1beta1-false"}, selection{App: "v1beta1-false"}},
		"v1beta1-selector": {v1beta1.SchemeGroupVersion, selecting("autoSelector", false, "v1beta1-selector"),
			selection{Field: true, App: "v1beta1-selector"}, selection{App: "v1beta1-selector"}},
		"v1beta1-true": {v1beta1.SchemeGroupVersion, map[string]any{"autoSelector": true},
			selection{Generated: true}, selection{Field: true, Generated: true}},
	} {
		t.Run(name, func(t *testing.T) {
			client := jobs.old
			if c.created == batchv1.SchemeGroupVersion {
				client = jobs.batch
			}
			job := must[*unstructured.Unstructured](t)
			job(client.Create(t.Context(), manifest(c.created, name, c.spec), metav1.CreateOptions{}))
			seen := func() []selection {
				return []selection{
					selectionOf(t, job(jobs.batch.Get(t.Context(), name, metav1.GetOptions{}))),
					selectionOf(t, job(jobs.old.Get(t.Context(), name, metav1.GetOptions{}))),
				}
			}
			if diff := cmp.Diff([]selection{c.batch, c.old}, seen()); diff != "" {
				t.Errorf("created, in batch/v1 and in v1beta1 (-want +got):\n%s", diff)
			}
			for _, client := range []dynamic.ResourceInterface{jobs.batch, jobs.old} {
				job(client.Update(t.Context(), job(client.Get(t.Context(), name, metav1.GetOptions{})), metav1.UpdateOptions{}))
			}
			if c.batch.Field == false {
				c.batch.Field = nil // The explicit false is lost when the Job is written in the other version.
			}
			if diff := cmp.Diff([]selection{c.batch, c.old}, seen()); diff != "" {
				t.Errorf("written back in both versions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryPatchWorksThroughTheOldVersion(t *testing.T) {
	jobs := jobsOf(t, apiservertest.Start(t).RESTConfig())
	job := must[*unstructured.Unstructured](t)
	job(jobs.batch.Create(t.Context(), manifest(batchv1.SchemeGroupVersion, "j", nil), metav1.CreateOptions{}))
	for i, c := range []struct {
		kind  types.PatchType
		patch string
	}{
		{types.JSONPatchType, `[{"op":"test","path":"/spec/autoSelector","value":true},{"op":"replace","path":"/spec/parallelism","value":10}]`},
		{types.MergePatchType, `{"spec":{"parallelism":11}}`},
		{types.StrategicMergePatchType, `{"spec":{"parallelism":12}}`},
		{types.ApplyYAMLPatchType, `{"apiVersion":"extensions/v1beta1","kind":"Job","spec":{"parallelism":13}}`},
	} {
		patched := job(jobs.old.Patch(t.Context(), "j", c.kind, []byte(c.patch), metav1.PatchOptions{FieldManager: "m", Force: force(c.kind)}))
		selectionOf(t, patched)
		seen := job(jobs.batch.Get(t.Context(), "j", metav1.GetOptions{}))
		if got, _, _ := unstructured.NestedInt64(seen.Object, "spec", "parallelism"); got != int64(10+i) {
			t.Errorf("%s: parallelism %d", c.kind, got)
		}
		if got := selectionOf(t, seen); !got.Generated || got.Field != nil {
			t.Errorf("%s: %+v", c.kind, got)
		}
	}
}

func force(kind types.PatchType) *bool {
	if kind == types.ApplyYAMLPatchType {
		return new(true)
	}
	return nil
}

func TestChangesThroughOneVersionAreSeenThroughTheOther(t *testing.T) {
	jobs := jobsOf(t, apiservertest.Start(t).RESTConfig())
	for name, c := range map[string]struct {
		writer, watcher dynamic.ResourceInterface
		wrote, seen     schema.GroupVersion
	}{
		"new":   {jobs.batch, jobs.old, batchv1.SchemeGroupVersion, v1beta1.SchemeGroupVersion},
		"older": {jobs.old, jobs.batch, v1beta1.SchemeGroupVersion, batchv1.SchemeGroupVersion},
	} {
		t.Run(name, func(t *testing.T) {
			w := must[watch.Interface](t)(c.watcher.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name}))
			defer w.Stop()
			made := must[*unstructured.Unstructured](t)(c.writer.Create(t.Context(), manifest(c.wrote, name, nil), metav1.CreateOptions{}))
			made.SetLabels(map[string]string{"seen": "yes"})
			must[*unstructured.Unstructured](t)(c.writer.Update(t.Context(), made, metav1.UpdateOptions{}))
			if err := c.writer.Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}); err != nil {
				t.Fatal(err)
			}
			for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
				e := next(t, w)
				job := e.Object.(*unstructured.Unstructured)
				if e.Type != want || job.GroupVersionKind() != c.seen.WithKind("Job") || job.GetName() != name {
					t.Errorf("%s of %s %s, want %s in %s", e.Type, job.GroupVersionKind(), job.GetName(), want, c.seen)
				}
				selectionOf(t, job)
			}
		})
	}
}

func TestStatusOfTheOldVersion(t *testing.T) {
	jobs := jobsOf(t, apiservertest.Start(t).RESTConfig())
	job := must[*unstructured.Unstructured](t)
	made := job(jobs.old.Create(t.Context(), manifest(v1beta1.SchemeGroupVersion, "j", nil), metav1.CreateOptions{}))
	made.Object["status"] = map[string]any{"active": int64(2)}
	made.Object["spec"].(map[string]any)["parallelism"] = int64(9)
	job(jobs.old.UpdateStatus(t.Context(), made, metav1.UpdateOptions{}))
	seen := job(jobs.batch.Get(t.Context(), "j", metav1.GetOptions{}))
	active, _, _ := unstructured.NestedInt64(seen.Object, "status", "active")
	parallelism, _, _ := unstructured.NestedInt64(seen.Object, "spec", "parallelism")
	if active != 2 || parallelism != 1 {
		t.Errorf("%d active, parallelism %d", active, parallelism)
	}
	selectionOf(t, seen)
	selectionOf(t, job(jobs.old.Get(t.Context(), "j", metav1.GetOptions{}, "status")))
}

func TestWhatIsStoredIsBatchV1(t *testing.T) {
	s := apiservertest.Start(t)
	jobs := jobsOf(t, s.RESTConfig())
	must[*unstructured.Unstructured](t)(jobs.old.Create(t.Context(), manifest(v1beta1.SchemeGroupVersion, "j", nil), metav1.CreateOptions{}))
	response, err := s.Store.Client().Get(t.Context(), "/registry/batch/jobs/default/j")
	if err != nil || len(response.Kvs) != 1 {
		t.Fatalf("%v, %v", response, err)
	}
	value := string(response.Kvs[0].Value)
	if !strings.Contains(value, "batch/v1") || strings.Contains(value, "extensions") || strings.Contains(value, "autoSelector") {
		t.Errorf("stored: %q", value)
	}
}

// The server converts, defaults and returns objects of its cache. With -race the test finds changes to shared objects.
func TestBothVersionsAreReadAndWrittenAtOnce(t *testing.T) {
	s := apiservertest.Start(t)
	jobs := jobsOf(t, s.RESTConfig())
	must[*unstructured.Unstructured](t)(jobs.batch.Create(t.Context(), manifest(batchv1.SchemeGroupVersion, "j", nil), metav1.CreateOptions{}))
	var all sync.WaitGroup
	for i, client := range []dynamic.ResourceInterface{jobs.batch, jobs.old, jobs.batch, jobs.old} {
		all.Go(func() {
			for n := range 10 {
				patch := fmt.Sprintf(`{"metadata":{"labels":{"by-%d":"%d"}}}`, i, n)
				_, patched := client.Patch(t.Context(), "j", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
				_, cached := client.List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
				if err := errors.Join(patched, cached); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	job := must[*batchv1.Job](t)(s.Client().Jobs().Get(t.Context(), "default", "j"))
	for i := range 4 {
		if got := job.Labels[fmt.Sprintf("by-%d", i)]; got != "9" {
			t.Errorf("writer %d got as far as %s", i, got)
		}
	}
}
