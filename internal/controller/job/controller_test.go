package job_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/wrappers"
)

// newJob makes a Job of one pod and applies changes to its spec.
func newJob(name string, changes ...func(*batchv1.JobSpec)) *batchv1.Job {
	j := wrappers.MakeJob(name).NodeName("node").Command("true").Obj()
	for _, change := range changes {
		change(&j.Spec)
	}
	return j
}

func pods(completions, parallelism int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = &completions, &parallelism }
}

func indexed(s *batchv1.JobSpec) { s.CompletionMode = ptr.To(batchv1.IndexedCompletion) }

func always(f fate) script { return func(*corev1.Pod) fate { return f } }

// quick keeps the delays of failed pods out of the way of tests.
func quick() job.Options {
	return job.Options{PodFailureBackoff: time.Millisecond, MaxPodFailureBackoff: 5 * time.Millisecond}
}

func TestFinishedJobsShowHowTheyEnded(t *testing.T) {
	index := func(p *corev1.Pod) string { return p.Annotations[batchv1.JobCompletionIndexAnnotation] }
	tests := map[string]struct {
		job    *batchv1.Job
		script script
		want   batchv1.JobConditionType
		reason string
		// succeeded and failed are the counters; -1 is any.
		succeeded, failed        int32
		completed, failedIndexes string
	}{
		"a Job of one pod completes": {
			job: newJob("j"), script: always(succeed),
			want: batchv1.JobComplete, reason: batchv1.JobReasonCompletionsReached, succeeded: 1,
		},
		"a Job of many pods completes": {
			job: newJob("j", pods(60, 7)), script: always(succeed),
			want: batchv1.JobComplete, reason: batchv1.JobReasonCompletionsReached, succeeded: 60,
		},
		"an indexed Job completes all its indexes": {
			job: newJob("j", pods(30, 4), indexed), script: always(succeed),
			want: batchv1.JobComplete, reason: batchv1.JobReasonCompletionsReached, succeeded: 30, completed: "0-29",
		},
		"a Job without work completes": {
			job: newJob("j", pods(0, 1)), script: always(succeed),
			want: batchv1.JobComplete, reason: batchv1.JobReasonCompletionsReached,
		},
		"too many failures fail a Job": {
			job:    newJob("j", func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](2) }),
			script: always(fail),
			want:   batchv1.JobFailed, reason: batchv1.JobReasonBackoffLimitExceeded, failed: 3,
		},
		"a FailJob rule fails a Job and its other pods": {
			job: newJob("j", pods(2, 2), indexed, func(s *batchv1.JobSpec) {
				s.PodFailurePolicy = onExitCode42(batchv1.PodFailurePolicyActionFailJob)
			}),
			script: func(p *corev1.Pod) fate {
				if index(p) == "0" {
					return run
				}
				return fail42
			},
			want: batchv1.JobFailed, reason: batchv1.JobReasonPodFailurePolicy, failed: 2,
		},
		"an index that fails too often fails the Job once the others have ended": {
			job: newJob("j", pods(3, 3), indexed, func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](1) }),
			script: func(p *corev1.Pod) fate {
				if index(p) == "1" {
					return fail
				}
				return succeed
			},
			want: batchv1.JobFailed, reason: batchv1.JobReasonFailedIndexes, succeeded: 2, failed: 2,
			completed: "0,2", failedIndexes: "1",
		},
		"a success policy completes a Job and ends its other pods uncounted": {
			job: newJob("j", pods(3, 3), indexed, func(s *batchv1.JobSpec) {
				s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("1")}}}
			}),
			script: func(p *corev1.Pod) fate {
				if index(p) == "1" {
					return succeed
				}
				return run
			},
			want: batchv1.JobComplete, reason: batchv1.JobReasonSuccessPolicy, succeeded: 1, completed: "1",
		},
		"a Job that takes too long fails": {
			job:    newJob("j", func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](1) }),
			script: always(run),
			want:   batchv1.JobFailed, reason: batchv1.JobReasonDeadlineExceeded, failed: 1,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := start(t, quick(), tt.script)
			e.create(tt.job)
			j := e.untilFinished("j")
			c := conditionOf(j, tt.want)
			if c == nil || c.Reason != tt.reason {
				t.Errorf("conditions %+v, want %s with reason %s", j.Status.Conditions, tt.want, tt.reason)
			}
			if j.Status.Succeeded != tt.succeeded || j.Status.Failed != tt.failed {
				t.Errorf("%d succeeded and %d failed, want %d and %d", j.Status.Succeeded, j.Status.Failed, tt.succeeded, tt.failed)
			}
			if got := ptr.Deref(j.Status.FailedIndexes, ""); j.Status.CompletedIndexes != tt.completed || got != tt.failedIndexes {
				t.Errorf("completed %q and failed %q, want %q and %q", j.Status.CompletedIndexes, got, tt.completed, tt.failedIndexes)
			}
			for _, p := range e.podList() {
				if len(p.Finalizers) > 0 {
					t.Errorf("pod %s keeps %v", p.Name, p.Finalizers)
				}
			}
		})
	}
}

func onExitCode42(action batchv1.PodFailurePolicyAction) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: action,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}}}}}
}

func conditionOf(j *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range j.Status.Conditions {
		if j.Status.Conditions[i].Type == kind {
			return &j.Status.Conditions[i]
		}
	}
	return nil
}
