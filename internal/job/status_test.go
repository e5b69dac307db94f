package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/wrappers"
)

func TestSuspension(t *testing.T) {
	tests := map[string]struct {
		job    *batchv1.Job
		status corev1.ConditionStatus
		reason string
		events []Event
		starts bool
	}{
		"a Job that was never suspended has no condition": {job: aJob().Obj(), starts: true},
		"a suspended Job says so and has no start": {
			job: aJob().Suspend(true).Obj(), status: corev1.ConditionTrue, reason: "JobSuspended",
			events: []Event{{"Normal", "Suspended", "Job suspended"}},
		},
		"a Job that goes on says so and starts anew": {
			job:    aJob().Condition(batchv1.JobSuspended, "JobSuspended").NoStartTime().Obj(),
			status: corev1.ConditionFalse, reason: "JobResumed", events: []Event{{"Normal", "Resumed", "Job resumed"}}, starts: true,
		},
		"a Job that stays suspended says it once": {
			job:    aJob().Suspend(true).Condition(batchv1.JobSuspended, "JobSuspended").NoStartTime().Obj(),
			status: corev1.ConditionTrue, reason: "JobSuspended",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(observed(tt.job))
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
	j := aJob().NoStartTime().Obj()
	p := aPod("a").Exited(0, at(0)).CreationTimestamp(at(20)).Obj()
	if start := Decide(observed(j, p)).next.StartTime; !start.Equal(ptr.To(at(20))) {
		t.Errorf("start %v", start)
	}
	if start := Decide(observed(j)).next.StartTime; !start.Equal(ptr.To(at(60))) {
		t.Errorf("start without pods %v", start)
	}
}

func TestTheStartStaysOnceAJobIsDeletedThatWentOn(t *testing.T) {
	j := aJob().Condition(batchv1.JobSuspended, "JobSuspended").DeletionTimestamp(at(20)).Obj()
	if start := Decide(observed(j)).next.StartTime; !start.Equal(ptr.To(at(0))) {
		t.Errorf("start %v, which no server takes", start)
	}
}

func TestConclusion(t *testing.T) {
	met := func() *wrappers.JobWrapper {
		return aJob().Condition(batchv1.JobSuccessCriteriaMet, "CompletionsReached")
	}
	failing := func() *wrappers.JobWrapper { return aJob().Condition(batchv1.JobFailureTarget, "BackoffLimitExceeded") }
	tests := map[string]struct {
		job    *batchv1.Job
		pods   []*corev1.Pod
		want   batchv1.JobConditionType
		events []string
		again  bool
	}{
		"nothing is left": {
			job: met().Obj(), want: batchv1.JobComplete, events: []string{"Completed"},
		},
		"more pods succeeded than were wanted": {
			job:  met().Succeeded(4).Obj(),
			want: batchv1.JobComplete, events: []string{"TooManySucceededPods", "Completed"},
		},
		"a failed Job": {
			job: failing().Obj(), want: batchv1.JobFailed, events: []string{"BackoffLimitExceeded"},
		},
		"a pod is terminating":   {job: failing().Obj(), pods: []*corev1.Pod{aPod("a").Running().DeletionTimestamp(at(0)).Finalizers().Obj()}},
		"a pod is active":        {job: failing().Obj(), pods: []*corev1.Pod{aPod("a").Running().Obj()}},
		"a pod is to be counted": {job: met().Obj(), pods: []*corev1.Pod{aPod("a").Exited(0, at(0)).Obj()}, again: true},
		"a pod is counted by its index and has its finalizer still": {
			job:  met().Indexed().CompletedIndexes("1").Succeeded(1).Obj(),
			pods: []*corev1.Pod{aPod("a").Index(1).Exited(0, at(0)).Obj()}, again: true,
		},
		"the verdict is not stored yet": {job: aJob().Succeeded(3).Obj(), again: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(observed(tt.job, tt.pods...))
			j := aJob().With(func(j *batchv1.Job) { j.Status = *d.next }).Obj()
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
			if d.Requeue != tt.again {
				t.Errorf("again: %v", d.Requeue)
			}
		})
	}
}
