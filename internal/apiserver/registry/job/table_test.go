package job

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestJobColumns(t *testing.T) {
	columns := Resource(pod.Options{}).Columns
	if diff := cmp.Diff([]string{"Name", "Status", "Completions", "Duration", "Age"}, registrytest.ColumnNames(columns, 0)); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Containers", "Images", "Selector"}, registrytest.ColumnNames(columns, 1)); diff != "" {
		t.Errorf("wide columns (-want +got):\n%s", diff)
	}
	for _, c := range columns {
		if c.Description == "" {
			t.Errorf("column %s has no description", c.Name)
		}
	}
}

func waitsForAnother(s *batchv1.JobStatus) {
	s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: "depends-on.stint.dev/extract", Status: "False"})
}

func TestJobRow(t *testing.T) {
	counts := func(succeeded int32) jobEdit {
		return func(job *batchv1.Job) { job.Status.Succeeded = succeeded }
	}
	queue := func(parallelism int32) jobEdit {
		return specEdit(func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = nil, &parallelism })
	}
	with := func(status ...statusEdit) jobEdit {
		return func(job *batchv1.Job) {
			for _, edit := range status {
				edit(&job.Status)
			}
		}
	}
	pods := func(active, ready, terminating int32) statusEdit {
		return func(s *batchv1.JobStatus) { s.Active, s.Ready, s.Terminating = active, &ready, &terminating }
	}
	deleted := func(job *batchv1.Job) { job.DeletionTimestamp = at(3000) }
	for sentence, c := range map[string]struct {
		edits []jobEdit
		want  []any
	}{
		"a new Job":                                 {nil, []any{"pi", "Pending", "0/1", "", "50m"}},
		"a Job that runs":                           {edits(with(started, pods(2, 1, 0))), []any{"pi", "Running", "0/1", "33m", "50m"}},
		"a Job whose pods do not run":               {edits(with(started, pods(2, 0, 0))), []any{"pi", "Pending", "0/1", "33m", "50m"}},
		"a Job that waits after a failure":          {edits(with(started, pods(0, 0, 0))), []any{"pi", "Pending", "0/1", "33m", "50m"}},
		"a Job whose last pods end":                 {edits(with(started, pods(0, 0, 1))), []any{"pi", "Running", "0/1", "33m", "50m"}},
		"a Job of a controller that does not count": {edits(with(started, func(s *batchv1.JobStatus) { s.Active = 1 })), []any{"pi", "Running", "0/1", "33m", "50m"}},
		"a complete Job":                            {edits(with(complete...), counts(1)), []any{"pi", "Complete", "1/1", "16m", "50m"}},
		"a failed Job":                              {edits(with(failed...)), []any{"pi", "Failed", "0/1", "33m", "50m"}},
		"a complete Job that is deleted":            {edits(with(complete...), deleted), []any{"pi", "Complete", "0/1", "16m", "50m"}},
		"a Job that is deleted":                     {edits(with(met), deleted), []any{"pi", "Terminating", "0/1", "", "50m"}},
		"a Job that waits for another":              {edits(with(waitsForAnother)), []any{"pi", "Waiting", "0/1", "", "50m"}},
		"that started all the same":                 {edits(with(waitsForAnother, started)), []any{"pi", "Pending", "0/1", "33m", "50m"}},
		"a suspended Job":                           {edits(with(is(batchv1.JobSuspended))), []any{"pi", "Suspended", "0/1", "", "50m"}},
		"a resumed Job":                             {edits(with(isNot(batchv1.JobSuspended))), []any{"pi", "Pending", "0/1", "", "50m"}},
		"a Job about to fail":                       {edits(with(target)), []any{"pi", "FailureTarget", "0/1", "", "50m"}},
		"a Job about to be complete":                {edits(with(met)), []any{"pi", "SuccessCriteriaMet", "0/1", "", "50m"}},
		"a work queue of one":                       {edits(queue(1)), []any{"pi", "Pending", "0/1", "", "50m"}},
		"a work queue of many":                      {edits(queue(3), counts(2)), []any{"pi", "Pending", "2/1 of 3", "", "50m"}},
		"a Job whose creation is not known":         {edits(func(job *batchv1.Job) { job.CreationTimestamp = metav1.Time{} }), []any{"pi", "Pending", "0/1", "", "<unknown>"}},
		"a Job that is suspended and deleted":       {edits(with(is(batchv1.JobSuspended)), deleted), []any{"pi", "Terminating", "0/1", "", "50m"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			job := editedJob(createdJob(), append(edits(func(job *batchv1.Job) { job.CreationTimestamp = *at(0) }), c.edits...)...)
			want := append(slices.Clone(c.want), "main", "perl:5.34.0", "batch.kubernetes.io/controller-uid="+registrytest.JobUID)
			if diff := cmp.Diff(want, Resource(pod.Options{}).Row(job, time.Unix(3000, 0))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJobIsSelectableByItsSuccesses(t *testing.T) {
	r := Resource(pod.Options{})
	job := editedJob(createdJob(), func(job *batchv1.Job) { job.Status.Succeeded = 12 })
	if diff := cmp.Diff(map[string]string{"status.successful": "12"}, map[string]string(r.Fields(job))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJobWarnings(t *testing.T) {
	for sentence, c := range map[string]struct {
		edits []jobEdit
		want  int
	}{
		"a plain Job is nothing to warn of":         {nil, 0},
		"a name with dots makes odd host names":     {edits(named("a.b")), 1},
		"100,001 completions of 10,001 pods may be": {edits(indexed(100_001, 10_001)), 1},
		"100,000 completions are no matter":         {edits(indexed(100_000, 10_001)), 0},
		"10,000 pods are no matter":                 {edits(indexed(100_001, 10_000)), 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := Resource(pod.Options{}).WarningsOnCreate(context.Background(), createdJob(c.edits...)); len(got) != c.want {
				t.Errorf("%d warnings, want %d: %q", len(got), c.want, got)
			}
		})
	}
}

func TestJobWarnsOnUpdatesOfTheSpecOnly(t *testing.T) {
	r := Resource(pod.Options{})
	old := createdJob(indexed(100_001, 10_001))
	labelled := editedJob(old, func(job *batchv1.Job) { job.Labels["a"] = "b" })
	r.PrepareForUpdate(context.Background(), labelled, old)
	if got := r.WarningsOnUpdate(context.Background(), labelled, old); len(got) != 0 {
		t.Errorf("a label brings %q", got)
	}
	held := editedJob(old, suspended)
	r.PrepareForUpdate(context.Background(), held, old)
	if got := r.WarningsOnUpdate(context.Background(), held, old); len(got) != 1 {
		t.Errorf("a suspension brings %q, want one warning", got)
	}
}
