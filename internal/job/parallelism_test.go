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

func TestManage(t *testing.T) {
	sized := func(completions, parallelism int32) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.Spec.Completions, j.Spec.Parallelism = &completions, &parallelism }
	}
	queue := func(j *batchv1.Job) { j.Spec.Completions = nil }
	endedOnly := func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) }
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		// what is planned
		create          int
		discard, delete []string
	}{
		"a new Job gets as many pods as may run":            {job: aJob(), create: 2},
		"never more pods than successes are missing":        {job: aJob(sized(3, 5)), pods: []*corev1.Pod{aPod("a", succeeded)}, create: 2},
		"parallelism 0 makes none":                          {job: aJob(sized(3, 0))},
		"parallelism 0 removes all":                         {job: aJob(sized(3, 0)), pods: []*corev1.Pod{aPod("a"), aPod("b")}, discard: []string{"a", "b"}},
		"an empty work queue starts":                        {job: aJob(queue), create: 2},
		"a work queue with a success takes no new pods":     {job: aJob(queue), pods: []*corev1.Pod{aPod("a", succeeded), aPod("b")}},
		"a suspended Job ends its pods":                     {job: aJob(withSuspend), pods: []*corev1.Pod{aPod("a"), aPod("b")}, discard: []string{"a", "b"}},
		"a failed Job deletes its pods":                     {job: aJob(withCondition(batchv1.JobFailureTarget, "X")), pods: []*corev1.Pod{aPod("a")}, delete: []string{"a"}},
		"a Job that met its success criteria discards them": {job: aJob(withCondition(batchv1.JobSuccessCriteriaMet, "X")), pods: []*corev1.Pod{aPod("a")}, discard: []string{"a"}},
		"a Job that is deleted changes nothing":             {job: aJob(func(j *batchv1.Job) { j.DeletionTimestamp = ptr.To(at(0)) }), pods: []*corev1.Pod{aPod("a")}},
		"pods that are told to end are replaced at once":    {job: aJob(func(j *batchv1.Job) { j.Spec.BackoffLimit = ptr.To[int32](9) }), pods: []*corev1.Pod{aPod("a", running, deleted), aPod("b")}, create: 1},
		"or once they have ended":                           {job: aJob(endedOnly), pods: []*corev1.Pod{aPod("a", running, deleted), aPod("b")}},
		"a pod that is listed as failed is not taken for active, however it is shown": {
			job: aJob(withSuspend, withListedFailure("a")), pods: []*corev1.Pod{aPod("a", running), aPod("b", running)}, discard: []string{"b"},
		},
		"a failed Job deletes it all the same: another controller may have listed it and not told it to end": {
			job:  aJob(withListedFailure("a"), withCondition(batchv1.JobFailureTarget, "X")),
			pods: []*corev1.Pod{aPod("a", running)}, delete: []string{"a"},
		},
		"the least useful pods go first": {
			job:     aJob(sized(9, 1)),
			pods:    []*corev1.Pod{aPod("a", running), aPod("b", func(p *corev1.Pod) { p.Spec.NodeName = "n" }), aPod("c")},
			discard: []string{"c", "a"},
		},
		"a second pod of an index goes, and nothing is created meanwhile": {
			job:     aJob(withIndexes, sized(9, 5)),
			pods:    []*corev1.Pod{aPod("a", withIndex(0), running), aPod("b", withIndex(0))},
			discard: []string{"b"},
		},
		"pods without an index or with a wrong one go": {
			job:     aJob(withIndexes, sized(2, 2)),
			pods:    []*corev1.Pod{aPod("a", withIndex(2)), aPod("b"), aPod("c", withIndex(1))},
			discard: []string{"b", "a"},
		},
		"an elastic Job that shrinks loses the highest indexes": {
			job:     aJob(withIndexes, sized(1, 1)),
			pods:    []*corev1.Pod{aPod("a", withIndex(0)), aPod("b", withIndex(1)), aPod("c", withIndex(2))},
			discard: []string{"b", "c"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(seen(tt.job, tt.pods...))
			if len(d.Create) != tt.create {
				t.Errorf("creates %d pods, want %d", len(d.Create), tt.create)
			}
			if diff := cmp.Diff(tt.discard, names(d.Discard), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("discards (-want +got):\n%s", diff)
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
		"pods are made":                     {aJob(), nil, PodsCreated},
		"pods wait for the delay":           {aJob(), []*corev1.Pod{aPod("a", exited(1, 55))}, PodsCreated},
		"there are enough pods":             {aJob(), []*corev1.Pod{aPod("a"), aPod("b")}, Tracking},
		"a pod is too many":                 {aJob(), []*corev1.Pod{aPod("a"), aPod("b"), aPod("c")}, PodsDeleted},
		"the Job is suspended":              {aJob(withSuspend), nil, PodsDeleted},
		"the Job is being deleted":          {aJob(func(j *batchv1.Job) { j.DeletionTimestamp = ptr.To(at(0)) }), nil, Reconciling},
		"the end is settled":                {aJob(withCondition(batchv1.JobFailureTarget, "X")), []*corev1.Pod{aPod("a")}, Reconciling},
		"the completions have been reached": {aJob(func(j *batchv1.Job) { j.Status.Succeeded = 3 }), nil, Tracking},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Decide(seen(tt.job, tt.pods...)).Action; got != tt.want {
				t.Errorf("action %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOneDecisionChangesABoundedNumberOfPods(t *testing.T) {
	obs := seen(aJob(func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism = ptr.To[int32](2000), ptr.To[int32](2000)
	}))
	if d := Decide(obs); len(d.Create) != 500 || !d.More {
		t.Errorf("creates %d pods, wants to go on: %v", len(d.Create), d.More)
	}
}

func TestAReplacedFailureIsCountedNext(t *testing.T) {
	j := aJob(withIndexes, func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.BackoffLimitPerIndex, j.Spec.BackoffLimit = ptr.To[int32](1), ptr.To[int32](3), nil
	})
	failure := aPod("a", withIndex(0), exited(1, 0))
	d := Decide(seen(j, failure))
	if len(d.Create) != 1 || len(d.Release) != 0 || !d.More {
		t.Errorf("creates %d pods, releases %d, wants to go on: %v", len(d.Create), len(d.Release), d.More)
	}
	if d := Decide(seen(j, failure, aPod("b", withIndex(0), withFailures(1)))); len(d.Release) != 1 || d.More {
		t.Errorf("then releases %d pods, wants to go on: %v", len(d.Release), d.More)
	}
	doomed := seen(j, failure)
	doomed.NoMorePods = true
	if d := Decide(doomed); len(d.Release) != 1 {
		t.Errorf("releases %d pods where none is made any more", len(d.Release))
	}
}

func TestAServerThatRefusesPodsIsLeftInPeace(t *testing.T) {
	obs := seen(aJob())
	obs.NoPodsBefore = obs.Now.Add(time.Second)
	if d := Decide(obs); len(d.Create) != 0 || d.LookAgainAfter != time.Second {
		t.Errorf("creates %d pods, looks again after %v", len(d.Create), d.LookAgainAfter)
	}
	obs.Now = obs.NoPodsBefore
	if d := Decide(obs); len(d.Create) != 2 {
		t.Errorf("creates %d pods afterwards", len(d.Create))
	}
}

func TestADeletionInFlightFreesThePlace(t *testing.T) {
	obs := seen(aJob(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](1) }), aPod("a"))
	obs.InFlight.Deleted = sets.New[types.UID]("a")
	d := Decide(obs)
	if next, _ := d.Status(Outcome{}); len(d.Create) != 1 || next.Active != 1 || *next.Terminating != 1 || len(d.Release) != 0 {
		t.Errorf("creates %d, releases %v, status %+v", len(d.Create), names(d.Release), next)
	}
}

func TestAPodThatIsReleasedButCouldNotBeDeletedGoes(t *testing.T) {
	obs := seen(aJob(), aPod("a", running), aPod("b"))
	obs.InFlight.Released = sets.New[types.UID]("a")
	if diff := cmp.Diff([]string{"a"}, names(Decide(obs).Discard)); diff != "" {
		t.Errorf("discards (-want +got):\n%s", diff)
	}
}

func TestIndexesToCreate(t *testing.T) {
	eachIndex := func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex, j.Spec.BackoffLimit = ptr.To[int32](3), nil }
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*corev1.Pod
		want []int
		wait time.Duration
	}{
		"the lowest that are open": {
			job:  aJob(withIndexes, func(j *batchv1.Job) { j.Spec.Completions = ptr.To[int32](6); j.Status.CompletedIndexes = "0,2" }),
			pods: []*corev1.Pod{aPod("a", withIndex(1))}, want: []int{3},
		},
		"a failed one again, after its delay": {
			job: aJob(withIndexes, eachIndex), pods: []*corev1.Pod{aPod("a", withIndex(0), exited(1, 50))}, want: []int{0, 1},
		},
		"not a failed one whose delay lasts": {
			job: aJob(withIndexes, eachIndex), pods: []*corev1.Pod{aPod("a", withIndex(0), withFailures(2), exited(1, 50))},
			want: []int{1}, wait: 30 * time.Second,
		},
		"not one that failed for good": {
			job: aJob(withIndexes, eachIndex, func(j *batchv1.Job) { j.Status.FailedIndexes = ptr.To("0") }), want: []int{1, 2},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(seen(tt.job, tt.pods...))
			if diff := cmp.Diff(tt.want, indexesOf(d.Create)); diff != "" {
				t.Errorf("indexes (-want +got):\n%s", diff)
			}
			if d.LookAgainAfter != tt.wait {
				t.Errorf("waits %v, want %v", d.LookAgainAfter, tt.wait)
			}
		})
	}
}

func TestAPodLosesLess(t *testing.T) {
	readyAt := func(seconds int) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			running(p)
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at(seconds)}}
		}
	}
	onNode := func(p *corev1.Pod) { p.Spec.NodeName = "n" }
	restarts := func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 2}} }
	sidecarRestarts := func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "s", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "s", RestartCount: 2}}
	}
	young := func(p *corev1.Pod) { p.CreationTimestamp = at(9) }
	tests := map[string]struct{ less, more *corev1.Pod }{
		"off a node than on one":        {aPod("b", running), aPod("a", onNode)},
		"pending than running":          {aPod("b"), aPod("a", running)},
		"not ready than ready":          {aPod("b", running), aPod("a", readyAt(1))},
		"ready for short than for long": {aPod("b", readyAt(2)), aPod("a", readyAt(1))},
		"with many restarts than few":   {aPod("b", restarts), aPod("a")},
		"or its sidecars":               {aPod("b", sidecarRestarts), aPod("a")},
		"young than old":                {aPod("b", young), aPod("a")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if losesLess(tt.less, tt.more) >= 0 || losesLess(tt.more, tt.less) <= 0 {
				t.Errorf("%s and %s are in the wrong order", tt.less.Name, tt.more.Name)
			}
		})
	}
}
