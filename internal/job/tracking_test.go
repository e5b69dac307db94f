package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
)

func TestTracking(t *testing.T) {
	listed := func(succeeded, failed []types.UID) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: succeeded, Failed: failed}
		}
	}
	eachIndex := func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex, j.Spec.BackoffLimit = ptr.To[int32](3), nil }
	a := []types.UID{"a"}
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		// what the next status says
		succeeded, failed         int32
		listSucceeded, listFailed []types.UID
		completed                 string
		release                   []string
	}{
		"an active pod keeps its finalizer": {job: aJob(), pods: []*corev1.Pod{aPod("a", running)}},
		"a success is listed and released": {
			job: aJob(), pods: []*corev1.Pod{aPod("a", succeeded)}, listSucceeded: a, release: []string{"a"},
		},
		"a failure is listed and released": {
			job: aJob(), pods: []*corev1.Pod{aPod("a", exited(1, 0))}, listFailed: a, release: []string{"a"},
		},
		"a listed pod with its finalizer stays listed": {
			job: aJob(listed(a, nil)), pods: []*corev1.Pod{aPod("a", succeeded)}, listSucceeded: a, release: []string{"a"},
		},
		"a listed pod without its finalizer is counted": {
			job: aJob(listed(a, nil)), pods: []*corev1.Pod{aPod("a", succeeded, released)}, succeeded: 1,
		},
		"a listed pod that is gone is counted": {job: aJob(listed(nil, a)), failed: 1},
		"one is counted while the next is listed": {
			job: aJob(listed(nil, a)), pods: []*corev1.Pod{aPod("b", exited(1, 0))}, failed: 1,
			listFailed: []types.UID{"b"}, release: []string{"b"},
		},
		"a pod that is told to end counts as failed, and so it stays when it succeeds": {
			job: aJob(listed(nil, a)), pods: []*corev1.Pod{aPod("a", succeeded, deleted)}, listFailed: a, release: []string{"a"},
		},
		"an index is counted at once": {
			job: aJob(withIndexes), pods: []*corev1.Pod{aPod("a", withIndex(1), succeeded)}, succeeded: 1, completed: "1", release: []string{"a"},
		},
		"an index counts once": {
			job:  aJob(withIndexes, func(j *batchv1.Job) { j.Status.CompletedIndexes, j.Status.Succeeded = "1", 1 }),
			pods: []*corev1.Pod{aPod("a", withIndex(1), succeeded)}, succeeded: 1, completed: "1", release: []string{"a"},
		},
		"a Job that is smaller counts less": {
			job: aJob(withIndexes, func(j *batchv1.Job) {
				j.Spec.Parallelism, j.Status.CompletedIndexes, j.Status.Succeeded = ptr.To[int32](3), "0,1,4", 3
			}), succeeded: 2, completed: "0,1",
		},
		"but not one that has become fixed before anybody said so": {
			job:       aJob(withIndexes, func(j *batchv1.Job) { j.Status.CompletedIndexes, j.Status.Succeeded = "0,1,4", 3 }),
			succeeded: 3, completed: "0,1",
		},
		"a pod with no index that the Job has is released uncounted": {
			job: aJob(withIndexes), pods: []*corev1.Pod{aPod("a", withIndex(7), succeeded), aPod("b", exited(1, 0))}, release: []string{"b", "a"},
		},
		"the last failure of an open index waits for the next pod": {
			job: aJob(withIndexes, eachIndex), pods: []*corev1.Pod{aPod("a", withIndex(0), exited(1, 0))},
		},
		"and is released when that is there": {
			job:  aJob(withIndexes, eachIndex),
			pods: []*corev1.Pod{aPod("a", withIndex(0), exited(1, 0)), aPod("b", withIndex(0), withFailures(1))}, listFailed: a, release: []string{"a"},
		},
		"pods of a deleted Job are released": {
			job:  aJob(func(j *batchv1.Job) { j.DeletionTimestamp = ptr.To(at(0)) }),
			pods: []*corev1.Pod{aPod("a", running), aPod("b", succeeded)}, listSucceeded: []types.UID{"b"}, release: []string{"a", "b"},
		},
		"a pod that ends because the Job failed counts as failed": {
			job:  aJob(withCondition(batchv1.JobFailureTarget, "X"), func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) }),
			pods: []*corev1.Pod{aPod("a", running, deleted)}, listFailed: a, release: []string{"a"},
		},
		"a pod that still runs when the Job fails counts as failed with it": {
			job:  aJob(func(j *batchv1.Job) { j.Spec.BackoffLimit = ptr.To[int32](0) }),
			pods: []*corev1.Pod{aPod("a", running), aPod("b", exited(1, 0))}, listFailed: []types.UID{"a", "b"}, release: []string{"a", "b"},
		},
		"a pod that still runs when the Job has met its success criteria does not count": {
			job: aJob(withCondition(batchv1.JobSuccessCriteriaMet, "X")), pods: []*corev1.Pod{aPod("a", running)},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			obs := seen(tt.job, tt.pods...)
			d := Decide(obs)
			s := d.next
			if s.Succeeded != tt.succeeded || s.Failed != tt.failed || s.CompletedIndexes != tt.completed {
				t.Errorf("counts %d and %d and indexes %q, want %d, %d and %q",
					s.Succeeded, s.Failed, s.CompletedIndexes, tt.succeeded, tt.failed, tt.completed)
			}
			want := &batchv1.UncountedTerminatedPods{Succeeded: tt.listSucceeded, Failed: tt.listFailed}
			if diff := cmp.Diff(want, s.UncountedTerminatedPods, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.release, names(d.Release), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("releases (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAReleaseInFlightIsDone(t *testing.T) {
	obs := seen(aJob(func(j *batchv1.Job) {
		j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"a"}}
	}), aPod("a", succeeded))
	obs.InFlight.Released = sets.New[types.UID]("a")
	if d := Decide(obs); d.next.Succeeded != 1 || len(d.Release) > 0 {
		t.Errorf("counts %d, releases %v", d.next.Succeeded, names(d.Release))
	}
}

func TestAPodThatCannotBeToldToEndIsNotCounted(t *testing.T) {
	j := aJob(withCondition(batchv1.JobFailureTarget, "X"))
	d := Decide(seen(j, aPod("a", running), aPod("b", running)))
	o := Outcome{NotRemoved: d.Delete[:1]}
	next, _ := d.Status(o)
	if diff := cmp.Diff([]types.UID{"b"}, next.UncountedTerminatedPods.Failed); diff != "" || next.Active != 1 {
		t.Errorf("%d active, list (-want +got):\n%s", next.Active, diff)
	}
	if diff := cmp.Diff([]string{"b"}, names(d.Releasable(o))); diff != "" {
		t.Errorf("releases (-want +got):\n%s", diff)
	}
}

func TestPodsThatEndWithAFailedJobFailNoIndex(t *testing.T) {
	j := aJob(withIndexes, withCondition(batchv1.JobFailureTarget, "MaxFailedIndexesExceeded"), func(j *batchv1.Job) {
		j.Spec.BackoffLimitPerIndex, j.Status.FailedIndexes = ptr.To[int32](0), ptr.To("0")
	})
	d := Decide(seen(j, aPod("a", withIndex(1), running, deleted), aPod("b", withIndex(2), exited(143, 0))))
	if got := *d.next.FailedIndexes; got != "0" {
		t.Errorf("failed indexes %q", got)
	}
	if diff := cmp.Diff([]types.UID{"a", "b"}, d.next.UncountedTerminatedPods.Failed); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestTheListIsBounded(t *testing.T) {
	j := aJob(func(j *batchv1.Job) { j.Spec.Completions = ptr.To[int32](1000) })
	obs := seen(j, repeat(20, func(i int) *corev1.Pod { return aPod(podNumber(i), succeeded) })...)
	obs.MaxUncountedPods = 7
	d := Decide(obs)
	if n := len(d.next.UncountedTerminatedPods.Succeeded); n != 7 || len(d.Release) != 7 || !d.More {
		t.Errorf("lists %d pods and releases %d, want 7; wants to go on: %v", n, len(d.Release), d.More)
	}
	if _, patience := d.Status(Outcome{}); patience != Urgent {
		t.Error("a full list waits, and with it the pods that it has no room for")
	}
}

func TestWritesThatMayWait(t *testing.T) {
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		want Patience
	}{
		"the first pods":          {aJob(func(j *batchv1.Job) { j.Status.StartTime = nil }), nil, Harmless},
		"a pod became active":     {aJob(), []*corev1.Pod{aPod("a")}, Harmless},
		"a listed pod is counted": {aJob(func(j *batchv1.Job) { j.Status.UncountedTerminatedPods.Failed = []types.UID{"x"} }), nil, Harmless},
		"a pod is to be listed":   {aJob(), []*corev1.Pod{aPod("a", succeeded)}, Holding},
		"an index is to be added": {aJob(withIndexes), []*corev1.Pod{aPod("a", withIndex(0), succeeded)}, Holding},
		"an index has failed": {
			aJob(withIndexes, func(j *batchv1.Job) {
				j.Spec.BackoffLimitPerIndex, j.Status.FailedIndexes = ptr.To[int32](0), ptr.To("")
			}),
			[]*corev1.Pod{aPod("a", withIndex(0), exited(1, 0))}, Holding,
		},
		"a pod ended with the Job's end":  {aJob(func(j *batchv1.Job) { j.Spec.BackoffLimit = ptr.To[int32](0) }), []*corev1.Pod{aPod("a", exited(1, 0))}, Urgent},
		"a condition is new":              {aJob(withSuspend), nil, Urgent},
		"what was settled must be stored": {aJob(func(j *batchv1.Job) { j.Spec.Completions = ptr.To[int32](0) }), nil, Urgent},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			next, got := Decide(seen(tt.job, tt.pods...)).Status(Outcome{})
			if next == nil || got != tt.want {
				t.Errorf("status %+v, patience %d, want %d", next, got, tt.want)
			}
		})
	}
}

func TestStatusTellsWhatCameOfThePods(t *testing.T) {
	d := Decide(seen(aJob(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](3) })))
	if next, _ := d.Status(Outcome{NotCreated: 2}); next.Active != 1 {
		t.Errorf("%d active, but only one was created", next.Active)
	}
	p := aPod("a", running, func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})
	d = Decide(seen(aJob(withSuspend), p))
	if next, _ := d.Status(Outcome{}); next.Active != 0 || *next.Ready != 0 || *next.Terminating != 1 {
		t.Errorf("after the removal: %+v", next)
	}
	if next, _ := d.Status(Outcome{NotRemoved: d.Discard}); next.Active != 1 || *next.Ready != 1 || *next.Terminating != 0 {
		t.Errorf("without the removal: %+v", next)
	}
}

func TestCountsForMetrics(t *testing.T) {
	j := aJob(withIndexes, func(j *batchv1.Job) {
		j.Status.UncountedTerminatedPods.Failed = []types.UID{"gone"}
		j.Status.Failed = 4
	})
	d := Decide(seen(j, aPod("a", withIndex(0), succeeded)))
	want := Counts{PodsSucceeded: 1, PodsFailed: 1, IndexesSucceeded: 1, CreationReason: "recreate_terminating_or_failed"}
	if diff := cmp.Diff(want, d.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}
