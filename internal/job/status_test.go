package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestSuspension(t *testing.T) {
	tests := map[string]struct {
		job    *batchv1.Job
		status corev1.ConditionStatus
		reason string
		events []Event
		starts bool
	}{
		"a Job that was never suspended has no condition": {job: aJob(), starts: true},
		"a suspended Job says so and has no start": {
			job: aJob(withSuspend), status: corev1.ConditionTrue, reason: "JobSuspended",
			events: []Event{{"Normal", "Suspended", "Job suspended"}},
		},
		"a Job that goes on says so and starts anew": {
			job:    aJob(withCondition(batchv1.JobSuspended, "JobSuspended"), func(j *batchv1.Job) { j.Status.StartTime = nil }),
			status: corev1.ConditionFalse, reason: "JobResumed", events: []Event{{"Normal", "Resumed", "Job resumed"}}, starts: true,
		},
		"a Job that stays suspended says it once": {
			job:    aJob(withSuspend, withCondition(batchv1.JobSuspended, "JobSuspended"), func(j *batchv1.Job) { j.Status.StartTime = nil }),
			status: corev1.ConditionTrue, reason: "JobSuspended",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(seen(tt.job))
			c := ptr.Deref(condition(d.next.Conditions, batchv1.JobSuspended), batchv1.JobCondition{})
			if c.Status != tt.status || c.Reason != tt.reason {
				t.Errorf("condition %+v", c)
			}
			if diff := cmp.Diff(tt.events, d.Events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if (d.next.StartTime != nil) != tt.starts {
				t.Errorf("start %v", d.next.StartTime)
			}
		})
	}
}

func TestTheStartIsNoLaterThanTheFirstPod(t *testing.T) {
	j := aJob(func(j *batchv1.Job) { j.Status.StartTime = nil })
	p := aPod("a", succeeded, func(p *corev1.Pod) { p.CreationTimestamp = at(20) })
	if start := Decide(seen(j, p)).next.StartTime; !start.Equal(ptr.To(at(20))) {
		t.Errorf("start %v", start)
	}
	if start := Decide(seen(j)).next.StartTime; !start.Equal(ptr.To(at(60))) {
		t.Errorf("start without pods %v", start)
	}
}

func TestTheStartStaysOnceAJobIsDeletedThatWentOn(t *testing.T) {
	j := aJob(withCondition(batchv1.JobSuspended, "JobSuspended"), func(j *batchv1.Job) { j.DeletionTimestamp = ptr.To(at(20)) })
	if start := Decide(seen(j)).next.StartTime; !start.Equal(ptr.To(at(0))) {
		t.Errorf("start %v, which no server takes", start)
	}
}

func TestConclusion(t *testing.T) {
	met := withCondition(batchv1.JobSuccessCriteriaMet, "CompletionsReached")
	target := withCondition(batchv1.JobFailureTarget, "BackoffLimitExceeded")
	tests := map[string]struct {
		job    *batchv1.Job
		pods   []*corev1.Pod
		want   batchv1.JobConditionType
		events []string
		again  bool
	}{
		"nothing is left": {
			job: aJob(met), want: batchv1.JobComplete, events: []string{"Completed"},
		},
		"more pods succeeded than were wanted": {
			job:  aJob(met, func(j *batchv1.Job) { j.Status.Succeeded = 4 }),
			want: batchv1.JobComplete, events: []string{"TooManySucceededPods", "Completed"},
		},
		"a failed Job": {
			job: aJob(target), want: batchv1.JobFailed, events: []string{"BackoffLimitExceeded"},
		},
		"a pod is terminating":   {job: aJob(target), pods: []*corev1.Pod{aPod("a", running, deleted, released)}},
		"a pod is active":        {job: aJob(target), pods: []*corev1.Pod{aPod("a", running)}},
		"a pod is to be counted": {job: aJob(met), pods: []*corev1.Pod{aPod("a", succeeded)}, again: true},
		"a pod is counted by its index and has its finalizer still": {
			job:  aJob(met, withIndexes, func(j *batchv1.Job) { j.Status.CompletedIndexes, j.Status.Succeeded = "1", 1 }),
			pods: []*corev1.Pod{aPod("a", withIndex(1), succeeded)}, again: true,
		},
		"the verdict is not stored yet": {job: aJob(func(j *batchv1.Job) { j.Status.Succeeded = 3 }), again: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(seen(tt.job, tt.pods...))
			j := aJob(func(j *batchv1.Job) { j.Status = *d.next })
			if Finished(j) != (tt.want != "") || (tt.want != "" && !isTrue(condition(j.Status.Conditions, tt.want))) {
				t.Errorf("conditions %+v, want %q", j.Status.Conditions, tt.want)
			}
			if (j.Status.CompletionTime != nil) != (tt.want == batchv1.JobComplete) {
				t.Errorf("completion time %v", j.Status.CompletionTime)
			}
			var reasons []string
			for _, e := range d.Events {
				reasons = append(reasons, e.Reason)
			}
			if diff := cmp.Diff(tt.events, reasons); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if d.Again != tt.again {
				t.Errorf("again: %v", d.Again)
			}
		})
	}
}
