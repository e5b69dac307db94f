package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	testJobUID  = "5c7d8a54-33cf-4a3b-8c6f-0a1d7f7f0c01"
	otherJobsID = "863452e6-270d-420e-9b94-53a54146c223"
)

type jobEdit func(*batchv1.Job)

// jobManifest is a Job as a user writes it.
func jobManifest(edits ...jobEdit) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "pi", Namespace: "default", UID: testJobUID},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "perl:5.34.0", Command: []string{"perl"}}},
		}}},
	}
	for _, edit := range edits {
		edit(job)
	}
	return job
}

// createdJob is a Job as the server makes it from the manifest, stores it and reads it again.
func createdJob(edits ...jobEdit) *batchv1.Job {
	job, r := jobManifest(edits...).DeepCopy(), Job(Options{})
	r.Default(job)
	r.PrepareForCreate(context.Background(), job)
	r.Default(job)
	return job.DeepCopy()
}

// editedJob is a copy of job with the edits.
func editedJob(job *batchv1.Job, edits ...jobEdit) *batchv1.Job {
	job = job.DeepCopy()
	for _, edit := range edits {
		edit(job)
	}
	return job
}

func specEdit(edit func(*batchv1.JobSpec)) jobEdit {
	return func(job *batchv1.Job) { edit(&job.Spec) }
}

func indexed(completions, parallelism int32) jobEdit {
	return specEdit(func(s *batchv1.JobSpec) {
		mode := batchv1.IndexedCompletion
		s.CompletionMode, s.Completions, s.Parallelism = &mode, &completions, &parallelism
	})
}

func named(name string) jobEdit { return func(job *batchv1.Job) { job.Name = name } }

func onFailure(job *batchv1.Job) {
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
}

func suspended(job *batchv1.Job) { t := true; job.Spec.Suspend = &t }

func manualSelector(podLabels map[string]string) jobEdit {
	return specEdit(func(s *batchv1.JobSpec) {
		manual := true
		s.ManualSelector = &manual
		s.Selector = &metav1.LabelSelector{MatchLabels: podLabels}
		s.Template.Labels = podLabels
	})
}

// kinds shortens errors to what the API promises of them: the field and the kind of the error.
func kinds(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, fmt.Sprintf("%s %s", err.Field, strings.TrimPrefix(string(err.Type), "FieldValue")))
	}
	slices.Sort(all)
	return all
}

func wantErrors(t *testing.T, errs field.ErrorList, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, kinds(errs)); diff != "" {
		t.Errorf("errors (-want +got):\n%s\n%v", diff, errs.ToAggregate())
	}
	for _, err := range errs {
		if err.Detail == "" && err.Type != field.ErrorTypeDuplicate {
			t.Errorf("%s: no remedy told", err.Field)
		}
	}
}

// createCase is what becomes of a Job that is posted with these edits.
type createCase struct {
	edits []jobEdit
	want  []string
}

func runCreateCases(t *testing.T, cases map[string]createCase) {
	t.Helper()
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			wantErrors(t, Job(Options{}).Validate(context.Background(), createdJob(c.edits...)), c.want...)
		})
	}
}

func edits(e ...jobEdit) []jobEdit { return e }
