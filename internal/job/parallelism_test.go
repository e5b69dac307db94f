package job

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
)

func TestPlan(t *testing.T) {
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		// what is planned
		create                  int
		deleteUncounted, delete []string
	}{
		"a new Job gets as many pods as may run":                     {job: aJob().Obj(), create: 2},
		"never more pods than successes are missing":                 {job: aJob().Completions(3).Parallelism(5).Obj(), pods: []*corev1.Pod{aPod("a").Exited(0, at(0)).Obj()}, create: 2},
		"parallelism 0 makes none":                                   {job: aJob().Completions(3).Parallelism(0).Obj()},
		"parallelism 0 removes all":                                  {job: aJob().Completions(3).Parallelism(0).Obj(), pods: []*corev1.Pod{aPod("a").Obj(), aPod("b").Obj()}, deleteUncounted: []string{"a", "b"}},
		"an empty work queue starts":                                 {job: aJob().WorkQueue().Obj(), create: 2},
		"a work queue with a success takes no new pods":              {job: aJob().WorkQueue().Obj(), pods: []*corev1.Pod{aPod("a").Exited(0, at(0)).Obj(), aPod("b").Obj()}},
		"a suspended Job ends its pods":                              {job: aJob().Suspend(true).Obj(), pods: []*corev1.Pod{aPod("a").Obj(), aPod("b").Obj()}, deleteUncounted: []string{"a", "b"}},
		"a failed Job deletes its pods":                              {job: aJob().Condition(batchv1.JobFailureTarget, "X").Obj(), pods: []*corev1.Pod{aPod("a").Obj()}, delete: []string{"a"}},
		"a Job that met its success criteria deletes them uncounted": {job: aJob().Condition(batchv1.JobSuccessCriteriaMet, "X").Obj(), pods: []*corev1.Pod{aPod("a").Obj()}, deleteUncounted: []string{"a"}},
		"a Job that is deleted changes nothing":                      {job: aJob().DeletionTimestamp(at(0)).Obj(), pods: []*corev1.Pod{aPod("a").Obj()}},
		"deleted pods are replaced at once":                          {job: aJob().BackoffLimit(9).Obj(), pods: []*corev1.Pod{aPod("a").Running().DeletionTimestamp(at(0)).Obj(), aPod("b").Obj()}, create: 1},
		"or once they have terminated":                               {job: aJob().PodReplacementPolicy(batchv1.Failed).Obj(), pods: []*corev1.Pod{aPod("a").Running().DeletionTimestamp(at(0)).Obj(), aPod("b").Obj()}},
		"a pod that is listed as failed is not taken for active, however it is shown": {
			job: aJob().Suspend(true).UncountedFailed("a").Obj(), pods: []*corev1.Pod{aPod("a").Running().Obj(), aPod("b").Running().Obj()}, deleteUncounted: []string{"b"},
		},
		"a failed Job deletes it all the same: another controller may have listed it and not deleted it": {
			job:  aJob().UncountedFailed("a").Condition(batchv1.JobFailureTarget, "X").Obj(),
			pods: []*corev1.Pod{aPod("a").Running().Obj()}, delete: []string{"a"},
		},
		"the least useful pods go first": {
			job:             aJob().Completions(9).Parallelism(1).Obj(),
			pods:            []*corev1.Pod{aPod("a").Running().Obj(), aPod("b").NodeName("n").Obj(), aPod("c").Obj()},
			deleteUncounted: []string{"c", "a"},
		},
		"a second pod of an index goes, and nothing is created meanwhile": {
			job:             aJob().Indexed().Completions(9).Parallelism(5).Obj(),
			pods:            []*corev1.Pod{aPod("a").Index(0).Running().Obj(), aPod("b").Index(0).Obj()},
			deleteUncounted: []string{"b"},
		},
		"pods without an index or with a wrong one go": {
			job:             aJob().Indexed().Completions(2).Parallelism(2).Obj(),
			pods:            []*corev1.Pod{aPod("a").Index(2).Obj(), aPod("b").Obj(), aPod("c").Index(1).Obj()},
			deleteUncounted: []string{"b", "a"},
		},
		"an elastic Job that shrinks loses the highest indexes": {
			job:             aJob().Indexed().Completions(1).Parallelism(1).Obj(),
			pods:            []*corev1.Pod{aPod("a").Index(0).Obj(), aPod("b").Index(1).Obj(), aPod("c").Index(2).Obj()},
			deleteUncounted: []string{"b", "c"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(observed(tt.job, tt.pods...))
			if len(d.Create) != tt.create {
				t.Errorf("creates %d pods, want %d", len(d.Create), tt.create)
			}
			if diff := cmp.Diff(tt.deleteUncounted, names(d.DeleteWithoutCounting), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("deletes uncounted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.delete, names(d.Delete), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("deletes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestActionsAsTheMetricsCallThem(t *testing.T) {
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		want Action
	}{
		"pods are made":                     {aJob().Obj(), nil, PodsCreated},
		"pods wait for the delay":           {aJob().Obj(), []*corev1.Pod{aPod("a").Exited(1, at(55)).Obj()}, PodsCreated},
		"there are enough pods":             {aJob().Obj(), []*corev1.Pod{aPod("a").Obj(), aPod("b").Obj()}, Tracking},
		"a pod is too many":                 {aJob().Obj(), []*corev1.Pod{aPod("a").Obj(), aPod("b").Obj(), aPod("c").Obj()}, PodsDeleted},
		"the Job is suspended":              {aJob().Suspend(true).Obj(), nil, PodsDeleted},
		"the Job is being deleted":          {aJob().DeletionTimestamp(at(0)).Obj(), nil, Reconciling},
		"the Job has a verdict":             {aJob().Condition(batchv1.JobFailureTarget, "X").Obj(), []*corev1.Pod{aPod("a").Obj()}, Reconciling},
		"the completions have been reached": {aJob().Succeeded(3).Obj(), nil, Tracking},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Decide(observed(tt.job, tt.pods...)).Action; got != tt.want {
				t.Errorf("action %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOneDecisionChangesABoundedNumberOfPods(t *testing.T) {
	obs := observed(aJob().Completions(2000).Parallelism(2000).Obj())
	if d := Decide(obs); len(d.Create) != 500 || !d.RequeueFair {
		t.Errorf("creates %d pods, wants to go on: %v", len(d.Create), d.RequeueFair)
	}
}

func TestAReplacedFailureIsCountedNext(t *testing.T) {
	j := aJob().Indexed().Completions(1).BackoffLimitPerIndex(3).Obj()
	failure := aPod("a").Index(0).Exited(1, at(0)).Obj()
	d := Decide(observed(j, failure))
	if len(d.Create) != 1 || len(d.RemoveFinalizer) != 0 || !d.RequeueFair {
		t.Errorf("creates %d pods, removes %d finalizers, wants to go on: %v", len(d.Create), len(d.RemoveFinalizer), d.RequeueFair)
	}
	if d := Decide(observed(j, failure, aPod("b").Index(0).IndexFailureCount(1).Obj())); len(d.RemoveFinalizer) != 1 || d.RequeueFair {
		t.Errorf("then removes %d finalizers, wants to go on: %v", len(d.RemoveFinalizer), d.RequeueFair)
	}
	terminating := observed(j, failure)
	terminating.NamespaceTerminating = true
	if d := Decide(terminating); len(d.RemoveFinalizer) != 1 {
		t.Errorf("removes %d finalizers where no pod is created any more", len(d.RemoveFinalizer))
	}
}

func TestNoPodsAreCreatedBeforeNextCreateAt(t *testing.T) {
	obs := observed(aJob().Obj())
	obs.NextCreateAt = obs.Now.Add(time.Second)
	if d := Decide(obs); len(d.Create) != 0 || d.RequeueAfter != time.Second {
		t.Errorf("creates %d pods, requeues after %v", len(d.Create), d.RequeueAfter)
	}
	obs.Now = obs.NextCreateAt
	if d := Decide(obs); len(d.Create) != 2 {
		t.Errorf("creates %d pods afterwards", len(d.Create))
	}
}

func TestADeletionInFlightFreesThePlace(t *testing.T) {
	obs := observed(aJob().Parallelism(1).Obj(), aPod("a").Obj())
	obs.InFlight.Deleted = sets.New[types.UID]("a")
	d := Decide(obs)
	if next, _ := d.Status(Outcome{}); len(d.Create) != 1 || next.Active != 1 || *next.Terminating != 1 || len(d.RemoveFinalizer) != 0 {
		t.Errorf("creates %d, removes finalizers of %v, status %+v", len(d.Create), names(d.RemoveFinalizer), next)
	}
}

func TestAPodWithoutFinalizerThatCouldNotBeDeletedIsDeletedAgain(t *testing.T) {
	obs := observed(aJob().Obj(), aPod("a").Running().Obj(), aPod("b").Obj())
	obs.InFlight.FinalizerRemoved = sets.New[types.UID]("a")
	if diff := cmp.Diff([]string{"a"}, names(Decide(obs).DeleteWithoutCounting)); diff != "" {
		t.Errorf("deletes uncounted (-want +got):\n%s", diff)
	}
}

func TestIndexesToCreate(t *testing.T) {
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		want []int
		wait time.Duration
	}{
		"the lowest that are open": {
			job:  aJob().Indexed().Completions(6).CompletedIndexes("0,2").Obj(),
			pods: []*corev1.Pod{aPod("a").Index(1).Obj()}, want: []int{3},
		},
		"a failed one again, after its delay": {
			job: aJob().Indexed().BackoffLimitPerIndex(3).Obj(), pods: []*corev1.Pod{aPod("a").Index(0).Exited(1, at(50)).Obj()}, want: []int{0, 1},
		},
		"not a failed one whose delay lasts": {
			job: aJob().Indexed().BackoffLimitPerIndex(3).Obj(), pods: []*corev1.Pod{aPod("a").Index(0).IndexFailureCount(2).Exited(1, at(50)).Obj()},
			want: []int{1}, wait: 30 * time.Second,
		},
		"not one that failed for good": {
			job: aJob().Indexed().BackoffLimitPerIndex(3).FailedIndexes("0").Obj(), want: []int{1, 2},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(observed(tt.job, tt.pods...))
			if diff := cmp.Diff(tt.want, indexesOf(d.Create)); diff != "" {
				t.Errorf("indexes (-want +got):\n%s", diff)
			}
			if d.RequeueAfter != tt.wait {
				t.Errorf("waits %v, want %v", d.RequeueAfter, tt.wait)
			}
		})
	}
}

func TestDeletionPreference(t *testing.T) {
	readyAt := func(seconds int) corev1.PodCondition {
		return corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at(seconds)}
	}
	restarts := corev1.ContainerStatus{RestartCount: 2}
	sidecarRestarts := func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "s", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "s", RestartCount: 2}}
	}
	tests := map[string]struct{ less, more *corev1.Pod }{
		"off a node than on one":        {aPod("b").Running().Obj(), aPod("a").NodeName("n").Obj()},
		"pending than running":          {aPod("b").Obj(), aPod("a").Running().Obj()},
		"not ready than ready":          {aPod("b").Running().Obj(), aPod("a").Running().Conditions(readyAt(1)).Obj()},
		"ready for short than for long": {aPod("b").Running().Conditions(readyAt(2)).Obj(), aPod("a").Running().Conditions(readyAt(1)).Obj()},
		"with many restarts than few":   {aPod("b").ContainerStatuses(restarts).Obj(), aPod("a").Obj()},
		"or its sidecars":               {aPod("b").With(sidecarRestarts).Obj(), aPod("a").Obj()},
		"young than old":                {aPod("b").CreationTimestamp(at(9)).Obj(), aPod("a").Obj()},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if byDeletionPreference(tt.less, tt.more) >= 0 || byDeletionPreference(tt.more, tt.less) <= 0 {
				t.Errorf("%s and %s are in the wrong order", tt.less.Name, tt.more.Name)
			}
		})
	}
}
