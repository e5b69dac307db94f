package job

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

const otherJobsID = "863452e6-270d-420e-9b94-53a54146c223"

type jobEdit = func(*batchv1.Job)

// createdJob returns a Job as the server stores it when it is created, and reads it again.
func createdJob(edits ...jobEdit) *batchv1.Job {
	job, r := registrytest.Job(edits...).DeepCopy(), Resource(pod.Options{})
	r.Default(job)
	r.PrepareForCreate(context.Background(), job)
	r.Default(job)
	return job.DeepCopy()
}

// editedJob returns a copy of job with the edits.
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

// createCase is a Job to be created, with the expected errors.
type createCase struct {
	edits []jobEdit
	want  []string
}

func runCreateCases(t *testing.T, cases map[string]createCase) {
	t.Helper()
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			registrytest.WantErrors(t, Resource(pod.Options{}).Validate(context.Background(), createdJob(c.edits...)), c.want...)
		})
	}
}

func edits(e ...jobEdit) []jobEdit { return e }
