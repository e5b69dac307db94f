package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

func TestTracking(t *testing.T) {
	a := []types.UID{"a"}
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		// what the next status says
		succeeded, failed         int32
		listSucceeded, listFailed []types.UID
		completed                 string
		removeFinalizer           []string
	}{
		"an active pod keeps its finalizer": {job: aJob().Obj(), pods: []*corev1.Pod{aPod("a").Running().Obj()}},
		"a success is listed and loses its finalizer": {
			job: aJob().Obj(), pods: []*corev1.Pod{aPod("a").Exited(0, at(0)).Obj()}, listSucceeded: a, removeFinalizer: []string{"a"},
		},
		"a failure is listed and loses its finalizer": {
			job: aJob().Obj(), pods: []*corev1.Pod{aPod("a").Exited(1, at(0)).Obj()}, listFailed: a, removeFinalizer: []string{"a"},
		},
		"a listed pod with its finalizer stays listed": {
			job: aJob().UncountedSucceeded(a...).Obj(), pods: []*corev1.Pod{aPod("a").Exited(0, at(0)).Obj()}, listSucceeded: a, removeFinalizer: []string{"a"},
		},
		"a listed pod without its finalizer is counted": {
			job: aJob().UncountedSucceeded(a...).Obj(), pods: []*corev1.Pod{aPod("a").Exited(0, at(0)).Finalizers().Obj()}, succeeded: 1,
		},
		"a listed pod that is gone is counted": {job: aJob().UncountedFailed(a...).Obj(), failed: 1},
		"one is counted while the next is listed": {
			job: aJob().UncountedFailed(a...).Obj(), pods: []*corev1.Pod{aPod("b").Exited(1, at(0)).Obj()}, failed: 1,
			listFailed: []types.UID{"b"}, removeFinalizer: []string{"b"},
		},
		"a deleted pod counts as failed, and still does when it succeeds": {
			job: aJob().UncountedFailed(a...).Obj(), pods: []*corev1.Pod{aPod("a").Exited(0, at(0)).DeletionTimestamp(at(0)).Obj()}, listFailed: a, removeFinalizer: []string{"a"},
		},
		"an index is counted at once": {
			job: aJob().Indexed().Obj(), pods: []*corev1.Pod{aPod("a").Index(1).Exited(0, at(0)).Obj()}, succeeded: 1, completed: "1", removeFinalizer: []string{"a"},
		},
		"an index counts once": {
			job:  aJob().Indexed().CompletedIndexes("1").Succeeded(1).Obj(),
			pods: []*corev1.Pod{aPod("a").Index(1).Exited(0, at(0)).Obj()}, succeeded: 1, completed: "1", removeFinalizer: []string{"a"},
		},
		"a Job that is smaller counts less": {
			job: aJob().Indexed().Parallelism(3).CompletedIndexes("0,1,4").Succeeded(3).Obj(), succeeded: 2, completed: "0,1",
		},
		"but not one that ceased to be elastic before its status was updated": {
			job:       aJob().Indexed().CompletedIndexes("0,1,4").Succeeded(3).Obj(),
			succeeded: 3, completed: "0,1",
		},
		"a pod with no index that the Job has loses its finalizer uncounted": {
			job: aJob().Indexed().Obj(), pods: []*corev1.Pod{aPod("a").Index(7).Exited(0, at(0)).Obj(), aPod("b").Exited(1, at(0)).Obj()}, removeFinalizer: []string{"b", "a"},
		},
		"the last failure of an open index waits for the next pod": {
			job: aJob().Indexed().BackoffLimitPerIndex(3).Obj(), pods: []*corev1.Pod{aPod("a").Index(0).Exited(1, at(0)).Obj()},
		},
		"and loses its finalizer when that exists": {
			job:  aJob().Indexed().BackoffLimitPerIndex(3).Obj(),
			pods: []*corev1.Pod{aPod("a").Index(0).Exited(1, at(0)).Obj(), aPod("b").Index(0).IndexFailureCount(1).Obj()}, listFailed: a, removeFinalizer: []string{"a"},
		},
		"pods of a deleted Job lose their finalizers": {
			job:  aJob().DeletionTimestamp(at(0)).Obj(),
			pods: []*corev1.Pod{aPod("a").Running().Obj(), aPod("b").Exited(0, at(0)).Obj()}, listSucceeded: []types.UID{"b"}, removeFinalizer: []string{"a", "b"},
		},
		"a pod that ends because the Job failed counts as failed": {
			job:  aJob().Condition(batchv1.JobFailureTarget, "X").PodReplacementPolicy(batchv1.Failed).Obj(),
			pods: []*corev1.Pod{aPod("a").Running().DeletionTimestamp(at(0)).Obj()}, listFailed: a, removeFinalizer: []string{"a"},
		},
		"a pod that still runs when the Job fails counts as failed with it": {
			job:  aJob().BackoffLimit(0).Obj(),
			pods: []*corev1.Pod{aPod("a").Running().Obj(), aPod("b").Exited(1, at(0)).Obj()}, listFailed: []types.UID{"a", "b"}, removeFinalizer: []string{"a", "b"},
		},
		"a pod that still runs when the Job has met its success criteria does not count": {
			job: aJob().Condition(batchv1.JobSuccessCriteriaMet, "X").Obj(), pods: []*corev1.Pod{aPod("a").Running().Obj()},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			obs := observed(tt.job, tt.pods...)
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
			if diff := cmp.Diff(tt.removeFinalizer, names(d.RemoveFinalizer), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("removes finalizers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFinalizerRemovalInFlightIsDone(t *testing.T) {
	obs := observed(aJob().UncountedSucceeded("a").Obj(), aPod("a").Exited(0, at(0)).Obj())
	obs.InFlight.FinalizerRemoved = sets.New[types.UID]("a")
	if d := Decide(obs); d.next.Succeeded != 1 || len(d.RemoveFinalizer) > 0 {
		t.Errorf("counts %d, removes finalizers of %v", d.next.Succeeded, names(d.RemoveFinalizer))
	}
}

func TestAPodThatCannotBeDeletedIsNotCounted(t *testing.T) {
	j := aJob().Condition(batchv1.JobFailureTarget, "X").Obj()
	d := Decide(observed(j, aPod("a").Running().Obj(), aPod("b").Running().Obj()))
	o := Outcome{NotDeleted: d.Delete[:1]}
	next, _ := d.Status(o)
	if diff := cmp.Diff([]types.UID{"b"}, next.UncountedTerminatedPods.Failed); diff != "" || next.Active != 1 {
		t.Errorf("%d active, list (-want +got):\n%s", next.Active, diff)
	}
	if diff := cmp.Diff([]string{"b"}, names(d.FinalizersToRemove(o))); diff != "" {
		t.Errorf("removes finalizers (-want +got):\n%s", diff)
	}
}

func TestPodsThatEndWithAFailedJobFailNoIndex(t *testing.T) {
	j := aJob().Indexed().Condition(batchv1.JobFailureTarget, "MaxFailedIndexesExceeded").BackoffLimitPerIndex(0).FailedIndexes("0").Obj()
	d := Decide(observed(j, aPod("a").Index(1).Running().DeletionTimestamp(at(0)).Obj(), aPod("b").Index(2).Exited(143, at(0)).Obj()))
	if got := *d.next.FailedIndexes; got != "0" {
		t.Errorf("failed indexes %q", got)
	}
	if diff := cmp.Diff([]types.UID{"a", "b"}, d.next.UncountedTerminatedPods.Failed); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestTheListIsBounded(t *testing.T) {
	j := aJob().Completions(1000).Obj()
	obs := observed(j, repeat(20, func(i int) *corev1.Pod { return aPod(podNumber(i)).Exited(0, at(0)).Obj() })...)
	obs.MaxUncountedPods = 7
	d := Decide(obs)
	if n := len(d.next.UncountedTerminatedPods.Succeeded); n != 7 || len(d.RemoveFinalizer) != 7 || !d.RequeueFair {
		t.Errorf("lists %d pods and removes %d finalizers, want 7; wants to go on: %v", n, len(d.RemoveFinalizer), d.RequeueFair)
	}
	if _, urgency := d.Status(Outcome{}); urgency != Immediate {
		t.Error("a full list waits, and with it the pods that it has no room for")
	}
}

func TestWritesThatMayWait(t *testing.T) {
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		want WriteUrgency
	}{
		"the first pods": {aJob().NoStartTime().Obj(), nil, Deferrable},
		"the first pods, none of which has failed its index": {
			aJob().Indexed().BackoffLimitPerIndex(0).NoStartTime().Obj(), nil, Deferrable,
		},
		"a pod became active":     {aJob().Obj(), []*corev1.Pod{aPod("a").Obj()}, Deferrable},
		"a listed pod is counted": {aJob().UncountedFailed("x").Obj(), nil, Deferrable},
		"a pod is to be listed":   {aJob().Obj(), []*corev1.Pod{aPod("a").Exited(0, at(0)).Obj()}, Batched},
		"an index is to be added": {aJob().Indexed().Obj(), []*corev1.Pod{aPod("a").Index(0).Exited(0, at(0)).Obj()}, Batched},
		"an index has failed": {
			aJob().Indexed().BackoffLimitPerIndex(0).FailedIndexes("").Obj(),
			[]*corev1.Pod{aPod("a").Index(0).Exited(1, at(0)).Obj()}, Batched,
		},
		"a pod ended with the Job's end": {aJob().BackoffLimit(0).Obj(), []*corev1.Pod{aPod("a").Exited(1, at(0)).Obj()}, Immediate},
		"a condition is new":             {aJob().Suspend(true).Obj(), nil, Immediate},
		"a verdict must be stored":       {aJob().Completions(0).Obj(), nil, Immediate},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			next, got := Decide(observed(tt.job, tt.pods...)).Status(Outcome{})
			if next == nil || got != tt.want {
				t.Errorf("status %+v, urgency %d, want %d", next, got, tt.want)
			}
		})
	}
}

func TestStatusReflectsTheOutcome(t *testing.T) {
	d := Decide(observed(aJob().Parallelism(3).Obj()))
	if next, _ := d.Status(Outcome{NotCreated: 2}); next.Active != 1 {
		t.Errorf("%d active, but only one was created", next.Active)
	}
	p := aPod("a").Running().Conditions(corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}).Obj()
	d = Decide(observed(aJob().Suspend(true).Obj(), p))
	if next, _ := d.Status(Outcome{}); next.Active != 0 || *next.Ready != 0 || *next.Terminating != 1 {
		t.Errorf("after the removal: %+v", next)
	}
	if next, _ := d.Status(Outcome{NotDeleted: d.DeleteWithoutCounting}); next.Active != 1 || *next.Ready != 1 || *next.Terminating != 0 {
		t.Errorf("without the removal: %+v", next)
	}
}

func TestCountsForMetrics(t *testing.T) {
	j := aJob().Indexed().UncountedFailed("gone").Failed(4).Obj()
	d := Decide(observed(j, aPod("a").Index(0).Exited(0, at(0)).Obj()))
	want := Counts{PodsSucceeded: 1, PodsFailed: 1, IndexesSucceeded: 1, CreationReason: "recreate_terminating_or_failed"}
	if diff := cmp.Diff(want, d.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}
