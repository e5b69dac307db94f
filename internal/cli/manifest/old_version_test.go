package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
)

func TestJobsOfTheOldVersionAreRead(t *testing.T) {
	labelled := strings.NewReplacer("batch/v1", "extensions/v1beta1", "  template:\n", "  template:\n    metadata: {labels: {app: pi}}\n").Replace(job)
	for sentence, c := range map[string]struct {
		file   string
		manual *bool
		labels map[string]string
	}{
		"its selector is made of the labels": {labelled, new(true), map[string]string{"app": "pi"}},
		"unless it is to be generated":       {strings.Replace(labelled, "spec:\n", "spec:\n  autoSelector: true\n", 1), nil, nil},
	} {
		objects, err := read(t, c.file)
		if err != nil || len(objects) != 1 {
			t.Fatalf("%s: %v", sentence, err)
		}
		got, ok := objects[0].Job()
		if !ok {
			t.Fatalf("%s: %T is no Job", sentence, objects[0].Typed)
		}
		var labels map[string]string
		if got.Spec.Selector != nil {
			labels = got.Spec.Selector.MatchLabels
		}
		if diff := cmp.Diff(c.manual, got.Spec.ManualSelector); diff != "" || !cmp.Equal(c.labels, labels) {
			t.Errorf("%s: manualSelector (-want +got):\n%slabels %v", sentence, diff, labels)
		}
		if got.GroupVersionKind() != batchv1.SchemeGroupVersion.WithKind("Job") {
			t.Errorf("%s: is told to be a %s", sentence, got.GroupVersionKind())
		}
		if objects[0].GVK != got.GroupVersionKind() {
			t.Errorf("%s: is to be looked for among the %s of the server, which may not have them", sentence, objects[0].GVK)
		}
	}
	_, err := read(t, strings.Replace(labelled, "spec:\n", "spec:\n  manualSelector: true\n", 1))
	if err == nil || !strings.Contains(err.Error(), "manualSelector") {
		t.Errorf("the other version's field: %v", err)
	}
	_, err = read(t, labelled+"\n---\n"+job)
	if err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("the same Job in both versions: %v", err)
	}
	_, err = read(t, strings.Replace(job, "batch/v1", "batch/v2", 1))
	if err == nil || !strings.Contains(err.Error(), "write apiVersion: batch/v1") {
		t.Errorf("a version that there is not: %v", err)
	}
}

func TestCronJobsOfTheOldVersionAreRead(t *testing.T) {
	old := `apiVersion: batch/v1beta1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  concurrencyPolicy: Forbid
  jobTemplate: {spec: {parallelism: 2}}
`
	objects, err := read(t, old)
	if err != nil || len(objects) != 1 {
		t.Fatal(err)
	}
	got, ok := objects[0].Typed.(*batchv1.CronJob)
	if !ok {
		t.Fatalf("%T is no CronJob of batch/v1", objects[0].Typed)
	}
	if got.Spec.Schedule != "0 3 * * *" || got.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent || *got.Spec.JobTemplate.Spec.Parallelism != 2 {
		t.Errorf("spec: %+v", got.Spec)
	}
	if want := batchv1.SchemeGroupVersion.WithKind("CronJob"); objects[0].GVK != want || got.GroupVersionKind() != want {
		t.Errorf("is told to be a %s and a %s", objects[0].GVK, got.GroupVersionKind())
	}
	_, err = read(t, strings.Replace(old, "schedule:", "shedule:", 1))
	if err == nil || !strings.Contains(err.Error(), "schedule") {
		t.Errorf("a misspelt field: %v", err)
	}
}
