package apiserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
)

func TestManagersOfEitherVersionRespectEachOther(t *testing.T) {
	jobs := jobsOf(t, apiservertest.Start(t).RESTConfig())
	spec := func(parallelism int64) map[string]any { return map[string]any{"parallelism": parallelism} }
	apply := func(client dynamic.ResourceInterface, manager string, m *unstructured.Unstructured, force bool) error {
		_, err := client.Apply(t.Context(), "j", m, metav1.ApplyOptions{FieldManager: manager, Force: force})
		return err
	}
	newer := func(spec map[string]any) *unstructured.Unstructured {
		return manifest(batchv1.SchemeGroupVersion, "j", spec)
	}
	older := func(spec map[string]any) *unstructured.Unstructured {
		return manifest(v1beta1.SchemeGroupVersion, "j", spec)
	}
	manual := map[string]any{"parallelism": int64(1), "manualSelector": true, "selector": map[string]any{"matchLabels": map[string]any{"app": "j"}}}

	if err := apply(jobs.batch, "new", newer(manual), false); err != nil {
		t.Fatal(err)
	}
	if err := apply(jobs.old, "old", older(spec(1)), false); err != nil {
		t.Errorf("the same values: %v", err)
	}
	err := apply(jobs.old, "old", older(spec(2)), false)
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), ".spec.parallelism") {
		t.Errorf("another's field: %v, want a conflict about it", err)
	}
	err = apply(jobs.old, "old", older(map[string]any{"autoSelector": true}), false)
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), ".spec.autoSelector") || strings.Contains(err.Error(), "manualSelector") {
		t.Errorf("the field that has another name: %v, want a conflict about this version's", err)
	}
	if err := apply(jobs.old, "old", older(spec(3)), true); err != nil {
		t.Errorf("by force: %v", err)
	}
	if err := apply(jobs.batch, "new", newer(manual), false); !apierrors.IsConflict(err) {
		t.Errorf("and the other way round: %v, want Conflict", err)
	}
	if err := apply(jobs.batch, "old", newer(spec(4)), false); err != nil {
		t.Errorf("a manager that moves to the new version: %v", err)
	}
	for _, client := range []dynamic.ResourceInterface{jobs.batch, jobs.old} {
		job := must[*unstructured.Unstructured](t)(client.Get(t.Context(), "j", metav1.GetOptions{}))
		selectionOf(t, job)
		for _, e := range job.GetManagedFields() {
			if e.APIVersion != job.GetAPIVersion() {
				t.Errorf("in %s, %s manages fields of %s", job.GetAPIVersion(), e.Manager, e.APIVersion)
			}
		}
		if len(job.GetManagedFields()) != 2 {
			t.Errorf("managers: %v", job.GetManagedFields())
		}
	}
}

func TestTablesOfTheOldVersion(t *testing.T) {
	s := apiservertest.Start(t)
	jobs := jobsOf(t, s.RESTConfig())
	must[*unstructured.Unstructured](t)(jobs.batch.Apply(t.Context(), "j", manifest(batchv1.SchemeGroupVersion, "j", map[string]any{
		"manualSelector": true, "selector": map[string]any{"matchLabels": map[string]any{"app": "j"}}}), metav1.ApplyOptions{FieldManager: "m"}))
	for _, include := range []string{"Metadata", "Object"} {
		raw := must[[]byte](t)(s.Clientset().RESTClient().Get().AbsPath("/apis/extensions/v1beta1/namespaces/default/jobs").
			Param("includeObject", include).SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context()))
		var table metav1.Table
		if err := json.Unmarshal(raw, &table); err != nil {
			t.Fatal(err)
		}
		if len(table.Rows) != 1 || table.Rows[0].Cells[0] != "j" || table.ColumnDefinitions[2].Name != "Completions" {
			t.Errorf("%s: %s", include, raw)
		}
		if row := string(table.Rows[0].Object.Raw); strings.Contains(row, "manualSelector") || !strings.Contains(row, "autoSelector") {
			t.Errorf("%s: the row of a table: %s", include, row)
		}
	}
}

func TestErrorsSpeakOfTheVersionOfTheClient(t *testing.T) {
	jobs := jobsOf(t, apiservertest.Start(t).RESTConfig())
	wrong := map[string]any{"autoSelector": true, "selector": map[string]any{"matchLabels": map[string]any{"app": "j"}}}
	unlabelled := manifest(v1beta1.SchemeGroupVersion, "j", nil)
	unstructured.RemoveNestedField(unlabelled.Object, "spec", "template", "metadata")
	for sentence, c := range map[string]struct {
		job  *unstructured.Unstructured
		want []string
	}{
		"a selector beside autoSelector":   {manifest(v1beta1.SchemeGroupVersion, "j", wrong), []string{"spec.selector", "leave out spec.autoSelector"}},
		"nothing to make a selector of":    {unlabelled, []string{"spec.selector", "autoSelector: true"}},
		"the field of the other version":   {manifest(v1beta1.SchemeGroupVersion, "j", map[string]any{"manualSelector": true}), []string{`unknown field "spec.manualSelector"`}},
		"a fault that is not of selectors": {manifest(v1beta1.SchemeGroupVersion, "j", map[string]any{"parallelism": int64(-1)}), []string{"spec.parallelism"}},
	} {
		_, err := jobs.old.Create(t.Context(), c.job, metav1.CreateOptions{FieldValidation: "Strict"})
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", sentence, err, want)
			}
		}
		if unknown := strings.HasPrefix(sentence, "the field of"); err != nil && !unknown && strings.Contains(err.Error(), "manualSelector") {
			t.Errorf("%s: %v", sentence, err)
		}
		if status, ok := err.(apierrors.APIStatus); ok && apierrors.IsInvalid(err) && status.Status().Details.Group != "extensions" {
			t.Errorf("%s: an error of group %s", sentence, status.Status().Details.Group)
		}
	}
	if _, err := jobs.old.Get(t.Context(), "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "jobs.extensions") {
		t.Errorf("a Job that is not there: %v", err)
	}
}
