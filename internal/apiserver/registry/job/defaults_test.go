package job

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestJobDefaults(t *testing.T) {
	type defaults struct {
		Parallelism, Completions, BackoffLimit *int32
		Mode                                   batchv1.CompletionMode
		Replace                                batchv1.PodReplacementPolicy
		Suspend                                bool
		Manual                                 *bool
	}
	plain := defaults{ptr.To[int32](1), ptr.To[int32](1), ptr.To[int32](6), batchv1.NonIndexedCompletion, batchv1.TerminatingOrFailed, false, nil}
	with := func(change func(*defaults)) defaults {
		d := plain
		change(&d)
		return d
	}
	for sentence, c := range map[string]struct {
		edit jobEdit
		want defaults
	}{
		"a Job is one pod that succeeds": {
			func(*batchv1.Job) {}, plain},
		"parallelism alone is a work queue": {
			specEdit(func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](3) }),
			with(func(d *defaults) { d.Parallelism, d.Completions = ptr.To[int32](3), nil })},
		"completions alone run one by one": {
			specEdit(func(s *batchv1.JobSpec) { s.Completions = ptr.To[int32](3) }),
			with(func(d *defaults) { d.Completions = ptr.To[int32](3) })},
		"a limit per index lifts that of the Job": {
			specEdit(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](1) }),
			with(func(d *defaults) { d.BackoffLimit = ptr.To[int32](math.MaxInt32) })},
		"a backoff limit of 0 stays": {
			specEdit(func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](0) }),
			with(func(d *defaults) { d.BackoffLimit = ptr.To[int32](0) })},
		"a failure policy waits for pods to fail": {
			failurePolicy(failOnExit(1)),
			with(func(d *defaults) { d.Replace = batchv1.Failed })},
		"a replacement policy that is given stays": {
			specEdit(func(s *batchv1.JobSpec) { s.PodReplacementPolicy = ptr.To(batchv1.Failed) }),
			with(func(d *defaults) { d.Replace = batchv1.Failed })},
		"a Job that waits stays so": {
			suspended, with(func(d *defaults) { d.Suspend = true })},
	} {
		t.Run(sentence, func(t *testing.T) {
			job := registrytest.Job(c.edit)
			Resource(pod.Options{}).Default(job)
			s := job.Spec
			got := defaults{s.Parallelism, s.Completions, s.BackoffLimit, *s.CompletionMode, *s.PodReplacementPolicy, *s.Suspend, s.ManualSelector}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJobDefaultsReachItsPods(t *testing.T) {
	job := createdJob(failurePolicy(ignoreOnCondition("DisruptionTarget")))
	if got := job.Spec.PodFailurePolicy.Rules[0].OnPodConditions[0].Status; got != "True" {
		t.Errorf("condition status is %q, want True", got)
	}
	if got := job.Spec.Template.Spec.TerminationGracePeriodSeconds; got == nil || *got != 30 {
		t.Errorf("grace period of the template is %v, want 30", got)
	}
}

func TestJobDefaultsAreIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Ptr(rapid.Int32Range(0, 5), true)
		job := registrytest.Job(specEdit(func(s *batchv1.JobSpec) {
			s.Parallelism = number.Draw(t, "parallelism")
			s.Completions = number.Draw(t, "completions")
			s.BackoffLimit = number.Draw(t, "backoffLimit")
			s.BackoffLimitPerIndex = number.Draw(t, "backoffLimitPerIndex")
		}))
		Resource(pod.Options{}).Default(job)
		once := job.DeepCopy()
		Resource(pod.Options{}).Default(job)
		if diff := cmp.Diff(once, job); diff != "" {
			t.Fatalf("the second time changes (-once +twice):\n%s", diff)
		}
	})
}

func TestJobCreationStartsAfresh(t *testing.T) {
	job := createdJob(func(job *batchv1.Job) {
		job.Generation = 7
		job.Status.Succeeded = 3
	})
	if job.Generation != 1 || job.Status.Succeeded != 0 {
		t.Errorf("generation %d, succeeded %d; want 1 and 0", job.Generation, job.Status.Succeeded)
	}
}

func TestJobGenerationCountsChangesOfTheSpec(t *testing.T) {
	for sentence, c := range map[string]struct {
		edit jobEdit
		want int64
	}{
		"a label is no change of the spec": {func(job *batchv1.Job) { job.Labels = map[string]string{"a": "b"} }, 1},
		"the status stays as it was":       {func(job *batchv1.Job) { job.Status.Active = 9 }, 1},
		"a suspension counts":              {suspended, 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			old := createdJob()
			job := editedJob(old, c.edit)
			Resource(pod.Options{}).PrepareForUpdate(context.Background(), job, old)
			if job.Generation != c.want || job.Status.Active != 0 {
				t.Errorf("generation %d, active %d; want %d and 0", job.Generation, job.Status.Active, c.want)
			}
		})
	}
}
