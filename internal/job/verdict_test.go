package job

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
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
	inPlace := func(limit int32) *batchv1.Job {
		return aJob().RestartPolicy(corev1.RestartPolicyOnFailure).BackoffLimit(limit).Obj()
	}
	restarted := corev1.ContainerStatus{RestartCount: 1}
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		// want is the reason; empty is no verdict.
		want, message string
	}{
		"nothing has happened": {job: aJob().Obj()},
		"all completions are reached": {
			job: aJob().Obj(), pods: []*corev1.Pod{aPod("a").Exited(0, at(0)).Obj(), aPod("b").Exited(0, at(0)).Obj(), aPod("c").Exited(0, at(0)).Obj()},
			want: "CompletionsReached", message: "Reached expected number of succeeded pods",
		},
		"completions are counted, listed and new": {
			job: aJob().Succeeded(1).UncountedSucceeded("gone").Obj(), pods: []*corev1.Pod{aPod("a").Exited(0, at(0)).Obj()},
			want: "CompletionsReached", message: "Reached expected number of succeeded pods",
		},
		"a pod that is counted already does not count again": {
			job: aJob().Succeeded(2).Obj(), pods: []*corev1.Pod{aPod("a").Exited(0, at(0)).Finalizers().Obj()},
		},
		"completions are reached and the surplus pods are deleted": {
			job: aJob().Succeeded(3).Obj(), pods: []*corev1.Pod{aPod("a").Running().Obj()},
			want: "CompletionsReached", message: "Reached expected number of succeeded pods",
		},
		"completions are reached but the pods of a deleted Job are not deleted": {
			job:  aJob().Succeeded(3).DeletionTimestamp(at(0)).Obj(),
			pods: []*corev1.Pod{aPod("a").Running().Obj()},
		},
		"a work queue with a success is suspended": {
			job:  aJob().Suspend(true).WorkQueue().Succeeded(1).Obj(),
			pods: []*corev1.Pod{aPod("a").Running().Obj()},
			want: "CompletionsReached", message: "Reached expected number of succeeded pods",
		},
		"a work queue with a success and nothing active": {
			job: aJob().WorkQueue().Obj(), pods: []*corev1.Pod{aPod("a").Exited(0, at(0)).Obj()},
			want: "CompletionsReached", message: "Reached expected number of succeeded pods",
		},
		"a work queue with a success waits for the others": {
			job: aJob().WorkQueue().Obj(), pods: []*corev1.Pod{aPod("a").Exited(0, at(0)).Obj(), aPod("b").Running().Obj()},
		},
		"as many failures as the limit": {job: aJob().BackoffLimit(1).Obj(), pods: []*corev1.Pod{aPod("a").Exited(1, at(0)).Obj()}},
		"one failure more than the limit": {
			job: aJob().BackoffLimit(1).Obj(), pods: []*corev1.Pod{aPod("a").Exited(1, at(0)).Obj(), aPod("b").Exited(1, at(0)).Obj()},
			want: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit",
		},
		"a deleted pod is a failure where it is replaced at once": {
			job: aJob().BackoffLimit(0).Obj(), pods: []*corev1.Pod{aPod("a").Running().DeletionTimestamp(at(0)).Obj()},
			want: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit",
		},
		"a deleted pod is no failure yet where only terminated pods are replaced": {
			job:  aJob().BackoffLimit(0).PodReplacementPolicy(batchv1.Failed).Obj(),
			pods: []*corev1.Pod{aPod("a").Running().DeletionTimestamp(at(0)).Obj()},
		},
		"fewer restarts than the limit": {job: inPlace(2), pods: []*corev1.Pod{aPod("a").Running().ContainerStatuses(restarted).Obj()}},
		"as many restarts as the limit": {
			job: inPlace(2), pods: []*corev1.Pod{aPod("a").Running().ContainerStatuses(restarted).Obj(), aPod("b").Running().ContainerStatuses(restarted).Obj()},
			want: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit",
		},
		"no restart with a limit of none": {job: inPlace(0), pods: []*corev1.Pod{aPod("a").Running().Obj()}},
		"before the deadline":             {job: aJob().ActiveDeadlineSeconds(61).Obj()},
		"at the deadline": {
			job: aJob().ActiveDeadlineSeconds(60).Obj(), want: "DeadlineExceeded", message: "Job was active longer than specified deadline",
		},
		"a suspended Job has no deadline": {job: aJob().ActiveDeadlineSeconds(1).Suspend(true).Obj()},
		"a Job that goes on has its deadline ahead": {
			job: aJob().ActiveDeadlineSeconds(1).Condition(batchv1.JobSuspended, "JobSuspended").Obj(),
		},
		"the backoff limit comes before the deadline": {
			job: aJob().BackoffLimit(0).ActiveDeadlineSeconds(1).Obj(), pods: []*corev1.Pod{aPod("a").Exited(1, at(0)).Obj()},
			want: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit",
		},
		"an index fails and another is open": {
			job: aJob().Indexed().BackoffLimitPerIndex(1).Obj(), pods: []*corev1.Pod{aPod("a").Index(0).IndexFailureCount(1).Exited(1, at(0)).Obj()},
		},
		"all indexes end, one failed": {
			job:  aJob().Indexed().BackoffLimitPerIndex(1).CompletedIndexes("1,2").Obj(),
			pods: []*corev1.Pod{aPod("a").Index(0).IndexFailureCount(1).Exited(1, at(0)).Obj()},
			want: "FailedIndexes", message: "Job has failed indexes",
		},
		"more indexes fail than may": {
			job:  aJob().Indexed().BackoffLimitPerIndex(0).MaxFailedIndexes(1).FailedIndexes("2").Obj(),
			pods: []*corev1.Pod{aPod("a").Index(0).Exited(1, at(0)).Obj()},
			want: "MaxFailedIndexesExceeded", message: "Job has exceeded the specified maximal number of failed indexes",
		},
		"a stored verdict stays": {
			job:  aJob().BackoffLimit(0).Condition(batchv1.JobSuccessCriteriaMet, "SuccessPolicy").Obj(),
			pods: []*corev1.Pod{aPod("a").Exited(1, at(0)).Obj()}, want: "SuccessPolicy",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got Verdict
			if end := storedVerdict(view{job: &batchv1.Job{Status: *Decide(observed(tt.job, tt.pods...)).next}}); end != nil {
				got = *end
			}
			if got.Reason != tt.want || got.Message != tt.message {
				t.Errorf("verdict %q (%q), want %q (%q)", got.Reason, got.Message, tt.want, tt.message)
			}
		})
	}
}

func TestTheDeadlineWakesTheJob(t *testing.T) {
	j := aJob().ActiveDeadlineSeconds(90).Obj()
	if got := Decide(observed(j)).RequeueAfter; got != 30*time.Second {
		t.Errorf("requeues after %v, want 30s", got)
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
	j := aJob().Indexed().CompletedIndexes("1").SuccessPolicy(
		batchv1.SuccessPolicyRule{SucceededIndexes: ptr.To("0")}, batchv1.SuccessPolicyRule{SucceededCount: ptr.To[int32](1)}).Obj()
	if got := judge(newView(observed(j))); got == nil || got.Reason != "SuccessPolicy" || got.Message != "Matched rules at index 1" {
		t.Errorf("verdict %+v", got)
	}
}
