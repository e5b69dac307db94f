package job

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// TestOrderOfRules pins what users rely on when several ends apply at once.
func TestOrderOfRules(t *testing.T) {
	var got []string
	for _, r := range rules() {
		got = append(got, r.name)
	}
	want := []string{"stored verdict", "dependencies", "podFailurePolicy", "backoffLimit", "activeDeadlineSeconds", "pending timeout", "maxFailedIndexes",
		"backoffLimitPerIndex", "successPolicy"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules in another order (-want +got):\n%s", diff)
	}
}

func TestVerdict(t *testing.T) {
	limit := func(n int32) func(*batchv1.Job) { return func(j *batchv1.Job) { j.Spec.BackoffLimit = &n } }
	lasting := func(seconds int64) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = &seconds }
	}
	inPlace := func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }
	restarted := func(n int32) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: n}} }
	}
	eachIndex := func(limit int32) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex, j.Spec.BackoffLimit = &limit, nil }
	}
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		// want is the reason; empty is no verdict.
		want, message string
	}{
		"nothing has happened": {job: aJob()},
		"all completions are reached": {
			job: aJob(), pods: []*corev1.Pod{aPod("a", succeeded), aPod("b", succeeded), aPod("c", succeeded)},
			want: "CompletionsReached", message: "Reached expected number of succeeded pods",
		},
		"completions are counted, listed and new": {
			job: aJob(func(j *batchv1.Job) {
				j.Status.Succeeded = 1
				j.Status.UncountedTerminatedPods.Succeeded = []types.UID{"gone"}
			}), pods: []*corev1.Pod{aPod("a", succeeded)},
			want: "CompletionsReached", message: "Reached expected number of succeeded pods",
		},
		"a pod that is counted already does not count again": {
			job: aJob(func(j *batchv1.Job) { j.Status.Succeeded = 2 }), pods: []*corev1.Pod{aPod("a", succeeded, released)},
		},
		"completions are reached and the pods that are too many told to end": {
			job: aJob(func(j *batchv1.Job) { j.Status.Succeeded = 3 }), pods: []*corev1.Pod{aPod("a", running)},
			want: "CompletionsReached", message: "Reached expected number of succeeded pods",
		},
		"completions are reached but nobody ends the pods of a deleted Job": {
			job:  aJob(func(j *batchv1.Job) { j.Status.Succeeded, j.DeletionTimestamp = 3, ptr.To(at(0)) }),
			pods: []*corev1.Pod{aPod("a", running)},
		},
		"a work queue with a success is suspended": {
			job:  aJob(withSuspend, func(j *batchv1.Job) { j.Spec.Completions, j.Status.Succeeded = nil, 1 }),
			pods: []*corev1.Pod{aPod("a", running)},
			want: "CompletionsReached", message: "Reached expected number of succeeded pods",
		},
		"a work queue with a success and nothing active": {
			job: aJob(func(j *batchv1.Job) { j.Spec.Completions = nil }), pods: []*corev1.Pod{aPod("a", succeeded)},
			want: "CompletionsReached", message: "Reached expected number of succeeded pods",
		},
		"a work queue with a success waits for the others": {
			job: aJob(func(j *batchv1.Job) { j.Spec.Completions = nil }), pods: []*corev1.Pod{aPod("a", succeeded), aPod("b", running)},
		},
		"as many failures as the limit": {job: aJob(limit(1)), pods: []*corev1.Pod{aPod("a", exited(1, 0))}},
		"one failure more than the limit": {
			job: aJob(limit(1)), pods: []*corev1.Pod{aPod("a", exited(1, 0)), aPod("b", exited(1, 0))},
			want: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit",
		},
		"a pod told to end is a failure where it is replaced at once": {
			job: aJob(limit(0)), pods: []*corev1.Pod{aPod("a", running, deleted)},
			want: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit",
		},
		"a pod told to end is no failure yet where only ended pods are replaced": {
			job:  aJob(limit(0), func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) }),
			pods: []*corev1.Pod{aPod("a", running, deleted)},
		},
		"fewer restarts than the limit": {job: aJob(limit(2), inPlace), pods: []*corev1.Pod{aPod("a", running, restarted(1))}},
		"as many restarts as the limit": {
			job: aJob(limit(2), inPlace), pods: []*corev1.Pod{aPod("a", running, restarted(1)), aPod("b", running, restarted(1))},
			want: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit",
		},
		"no restart with a limit of none": {job: aJob(limit(0), inPlace), pods: []*corev1.Pod{aPod("a", running)}},
		"before the deadline":             {job: aJob(lasting(61))},
		"at the deadline": {
			job: aJob(lasting(60)), want: "DeadlineExceeded", message: "Job was active longer than specified deadline",
		},
		"a suspended Job has no deadline": {job: aJob(lasting(1), withSuspend)},
		"a Job that goes on has its deadline ahead": {
			job: aJob(lasting(1), withCondition(batchv1.JobSuspended, "JobSuspended")),
		},
		"the backoff limit comes before the deadline": {
			job: aJob(limit(0), lasting(1)), pods: []*corev1.Pod{aPod("a", exited(1, 0))},
			want: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit",
		},
		"an index fails and another is open": {
			job: aJob(withIndexes, eachIndex(1)), pods: []*corev1.Pod{aPod("a", withIndex(0), withFailures(1), exited(1, 0))},
		},
		"all indexes end, one failed": {
			job:  aJob(withIndexes, eachIndex(1), func(j *batchv1.Job) { j.Status.CompletedIndexes = "1,2" }),
			pods: []*corev1.Pod{aPod("a", withIndex(0), withFailures(1), exited(1, 0))},
			want: "FailedIndexes", message: "Job has failed indexes",
		},
		"more indexes fail than may": {
			job: aJob(withIndexes, eachIndex(0), func(j *batchv1.Job) {
				j.Spec.MaxFailedIndexes = ptr.To[int32](1)
				j.Status.FailedIndexes = ptr.To("2")
			}),
			pods: []*corev1.Pod{aPod("a", withIndex(0), exited(1, 0))},
			want: "MaxFailedIndexesExceeded", message: "Job has exceeded the specified maximal number of failed indexes",
		},
		"what was settled stays so": {
			job:  aJob(limit(0), withCondition(batchv1.JobSuccessCriteriaMet, "SuccessPolicy")),
			pods: []*corev1.Pod{aPod("a", exited(1, 0))}, want: "SuccessPolicy",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got Verdict
			if end := storedVerdict(view{job: &batchv1.Job{Status: *Decide(seen(tt.job, tt.pods...)).next}}); end != nil {
				got = *end
			}
			if got.Reason != tt.want || got.Message != tt.message {
				t.Errorf("verdict %q (%q), want %q (%q)", got.Reason, got.Message, tt.want, tt.message)
			}
		})
	}
}

func TestTheDeadlineWakesTheJob(t *testing.T) {
	j := aJob(func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](90) })
	if got := Decide(seen(j)).LookAgainAfter; got != 30*time.Second {
		t.Errorf("looks again after %v, want 30s", got)
	}
}

func TestSuccessPolicy(t *testing.T) {
	tests := map[string]struct {
		indexes *string
		count   *int32
		done    string
		want    bool
	}{
		"all listed indexes":            {ptr.To("0,2-3"), nil, "0-4", true},
		"one listed index is missing":   {ptr.To("0,2-3"), nil, "0-2,4", false},
		"enough of the listed indexes":  {ptr.To("0,2-3"), ptr.To[int32](2), "0,1,3", true},
		"too few of the listed indexes": {ptr.To("0,2-3"), ptr.To[int32](2), "1,3", false},
		"enough of any":                 {nil, ptr.To[int32](3), "0,2,4", true},
		"too few of any":                {nil, ptr.To[int32](3), "0,2", false},
		"a rule that lists nothing":     {ptr.To("9"), nil, "0", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rule := batchv1.SuccessPolicyRule{SucceededIndexes: tt.indexes, SucceededCount: tt.count}
			if got := satisfied(rule, ParseIndexes(tt.done, 5), 5); got != tt.want {
				t.Errorf("satisfied: %v", got)
			}
		})
	}
}

func TestTheFirstSuccessRuleThatMatchesIsNamed(t *testing.T) {
	j := aJob(withIndexes, func(j *batchv1.Job) {
		j.Status.CompletedIndexes = "1"
		j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{
			{SucceededIndexes: ptr.To("0")}, {SucceededCount: ptr.To[int32](1)}}}
	})
	if got := judge(look(seen(j))); got == nil || got.Reason != "SuccessPolicy" || got.Message != "Matched rules at index 1" {
		t.Errorf("verdict %+v", got)
	}
}
