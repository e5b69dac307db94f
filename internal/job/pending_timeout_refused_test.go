package job

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestAJobOfWhichNoPodCanBeCreatedFails(t *testing.T) {
	const quota = "exceeded quota: small"
	tests := map[string]struct {
		job         *batchv1.Job
		pods        []*corev1.Pod
		since, last int
		noMore      bool
		want        string
	}{
		"for the whole time":            {since: 0, last: 30, want: "No pod could be created for 30s: " + quota},
		"not for the whole time":        {since: 1, last: 30},
		"no timeout is asked for":       {job: aJob().Obj(), since: 0, last: 60},
		"pods of before live":           {pods: []*corev1.Pod{aPod("p").Running().Obj()}, since: 0, last: 60},
		"pods of before are still here": {pods: []*corev1.Pod{aPod("p").Running().DeletionTimestamp(at(0)).Obj()}, since: 0, last: 60},
		"a pod of before has ended": {
			pods: []*corev1.Pod{aPod("p").Exited(1, at(0)).Obj()}, since: 0, last: 30, want: "No pod could be created for 30s: " + quota,
		},
		"the Job is suspended":           {job: withPendingTimeout().Suspend(true).Obj(), since: 0, last: 60},
		"the namespace is being deleted": {since: 0, last: 60, noMore: true},
		"the Job is being deleted": {
			job: withPendingTimeout().DeletionTimestamp(at(0)).Obj(), since: 0, last: 60,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.job == nil {
				tt.job = withPendingTimeout().Obj()
			}
			o := observed(tt.job, tt.pods...)
			o.NamespaceTerminating = tt.noMore
			o.CreateFailure = &CreateFailure{Since: at(tt.since).Time, Last: at(tt.last).Time, Message: quota}
			end := judge(newView(o))
			got := ""
			if end != nil {
				got = end.Message
			}
			if got != tt.want || tt.want != "" && (end.Reason != "PendingTimeout" || !end.Failure()) {
				t.Errorf("verdict %+v, want %q", end, tt.want)
			}
		})
	}
}

func TestPodsAreTriedOnceMoreBeforeTheJobFails(t *testing.T) {
	tests := map[string]struct {
		job *batchv1.Job
		// now, last and pause are in seconds after the epoch; the first refusal was at 0.
		now, last, pause int
		create           bool
		after            time.Duration
	}{
		"the pause is over first":      {job: withPendingTimeout().Obj(), now: 20, last: 16, pause: 24, after: 4 * time.Second},
		"the time is over first":       {job: withPendingTimeout().Obj(), now: 20, last: 16, pause: 48, after: 10 * time.Second},
		"the time is over":             {job: withPendingTimeout().Obj(), now: 30, last: 16, pause: 48, create: true},
		"without a time for the pause": {job: aJob().Obj(), now: 30, last: 16, pause: 48, after: 18 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := observed(tt.job)
			o.Now, o.NextCreateAt = at(tt.now).Time, at(tt.pause).Time
			o.CreateFailure = &CreateFailure{Since: at(0).Time, Last: at(tt.last).Time}
			d := Decide(o)
			if (len(d.Create) > 0) != tt.create || d.RequeueAfter != tt.after {
				t.Errorf("creates %d, requeues after %s, want %v, %s", len(d.Create), d.RequeueAfter, tt.create, tt.after)
			}
		})
	}
}
