package scenario_test

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/wrappers"
)

// TestInvariantsNotice breaks every invariant once: each history ends with a write that the invariant must report.
func TestInvariantsNotice(t *testing.T) {
	running, done := aTrackedPod("p", corev1.PodRunning), aTrackedPod("p", corev1.PodSucceeded)
	settled := withConditions(batchv1.JobSuccessCriteriaMet)
	over := func(j *batchv1.Job) {
		withConditions(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)(j)
		j.Status.CompletionTime = &metav1.Time{}
	}
	tests := map[string][]metav1.Object{
		"the status of a finished Job does not change":               {stored(settled), stored(over), stored(over, withCounts(0, 1))},
		"a Job ends in one way":                                      {stored(withConditions(batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet))},
		"a verdict stays":                                            {stored(settled), stored()},
		"FailureTarget comes before Failed":                          {stored(withConditions(batchv1.JobFailureTarget, batchv1.JobFailed))},
		"SuccessCriteriaMet comes before Complete":                   {stored(over)},
		"a Job that is complete, and no other, has a completionTime": {stored(settled), stored(withConditions(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete))},
		"startTime moves with suspension only":                       {stored(startedAt(1)), stored(startedAt(2))},
		"failed never falls":                                         {stored(withCounts(0, 2)), stored(withCounts(0, 1))},
		"succeeded never falls, unless there are fewer indexes":      {stored(withCounts(2, 0)), stored(withCounts(1, 0))},
		"an index that has ended stays so":                           {stored(indexed(3, 3), withIndexes("0,1", "")), stored(indexed(3, 3), withIndexes("1", ""))},
		"no index both succeeds and fails":                           {stored(indexed(3, 3), withIndexes("0-2", "1"))},
		"an indexed Job counts its indexes":                          {stored(indexed(3, 3), withIndexes("0-2", ""), withCounts(2, 0))},
		"a pod is listed for counting once":                          {stored(listing("p")), stored(), stored(listing("p"))},
		"no more pods are listed at once than fit into a Job": {stored(func(j *batchv1.Job) {
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Failed: make([]types.UID, mostListed+1)}
		})},
		"no more pods are counted than have ended or were deleted":     {stored(), running, stored(withCounts(1, 0))},
		"no more pods are ready than active":                           {stored(func(j *batchv1.Job) { j.Status.Ready = ptr.To[int32](1) })},
		"the numbers of pods are not negative":                         {stored(func(j *batchv1.Job) { j.Status.Active = -1 })},
		"a Job ends when its last pod has":                             {stored(settled), running, stored(over)},
		"a Job ends when its last pod is counted and has no finalizer": {stored(settled), done, stored(over)},
		"a Job that waits for others has not started":                  {stored(dependsOn("other")), stored(dependsOn("other"), startedAt(1))},
		"what a Job has stopped waiting for it does not wait for again": {stored(withConditions(onJob("other"))),
			stored(func(j *batchv1.Job) {
				j.Status.Conditions = []batchv1.JobCondition{{Type: onJob("other"), Status: corev1.ConditionFalse}}
			})},
		"a Job fails by a dependency before it starts, and without pods": {stored(), running, stored(func(j *batchv1.Job) {
			withConditions(batchv1.JobFailureTarget)(j)
			j.Status.Conditions[0].Reason = core.DependencyFailed
		})},

		"no pod is made before all is over that the Job waits for": {stored(dependsOn("other, another"), withConditions(onJob("other"))), running},
		"a pod that has started is not failed for waiting":         {stored(), aTrackedPod("p", corev1.PodRunning, hasRun), aTrackedPod("p", corev1.PodFailed, hasRun, failedForWaiting)},
		"no pod is made after the verdict, or for a suspended Job": {stored(settled), running},
		"no more pods live than parallelism allows":                {stored(), running, aTrackedPod("q", corev1.PodPending)},
		"with podReplacementPolicy Failed, pods that are ending count as living": {stored(replacesEnded), aTrackedPod("p", corev1.PodRunning, deleted),
			aTrackedPod("q", corev1.PodPending)},
		"an index has one pod at a time, and none once it has succeeded": {stored(indexed(2, 2)), aTrackedPod("p", corev1.PodRunning, ofIndex("0")),
			aTrackedPod("q", corev1.PodPending, ofIndex("0"))},
		"a pod of a Job is tracked from the start":                        {stored(), aTrackedPod("p", corev1.PodPending, untracked)},
		"an ended pod loses its finalizer once the Job's status lists it": {stored(), done, aTrackedPod("p", corev1.PodSucceeded, untracked)},
	}
	var rules []string
	for _, rule := range statusRules {
		rules = append(rules, rule.says)
	}
	for _, rule := range podRules {
		rules = append(rules, rule.says)
	}
	expectNoticed(t, rules, tests)
}

// expectNoticed checks that each rule is broken by the history of its name.
func expectNoticed(t *testing.T, rules []string, tests map[string][]metav1.Object) {
	for _, rule := range rules {
		if tests[rule] == nil {
			t.Errorf("nothing breaks %q", rule)
		}
	}
	for rule, history := range tests {
		t.Run(rule, func(t *testing.T) {
			w := newWorld()
			var broken []string
			for _, o := range history {
				broken = append(broken, w.take(change{object: o})...)
			}
			if !strings.Contains(strings.Join(broken, "\n"), rule) {
				t.Errorf("only these were found broken: %q", broken)
			}
		})
	}
}

func stored(options ...func(*batchv1.Job)) *batchv1.Job {
	j := aJob(options...)
	j.UID = "job"
	return j
}

func withConditions(kinds ...batchv1.JobConditionType) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		for _, kind := range kinds {
			j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue})
		}
	}
}

func withCounts(succeeded, failed int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Status.Succeeded, j.Status.Failed = succeeded, failed }
}

func withIndexes(completed, failed string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Status.CompletedIndexes, j.Status.FailedIndexes = completed, &failed
		j.Status.Succeeded = int32(len(parseIndexes(completed)))
	}
}

func startedAt(second int64) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Status.StartTime = ptr.To(metav1.Unix(second, 0)) }
}

func listing(uid types.UID) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{uid}}
	}
}

func aTrackedPod(name string, phase corev1.PodPhase, options ...func(*corev1.Pod)) *corev1.Pod {
	return wrappers.MakePod(name).UID(types.UID(name)).Controller(wrappers.MakeJob("job").UID("job").Obj()).
		Finalizers(batchv1.JobTrackingFinalizer).Phase(phase).With(options...).Obj()
}

func deleted(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }

func untracked(p *corev1.Pod) { p.Finalizers = nil }

func ofIndex(index string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, batchv1.JobCompletionIndexAnnotation, index)
	}
}

func hasRun(p *corev1.Pod) {
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
}

func failedForWaiting(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: pendingTimeout, Status: corev1.ConditionTrue}}
}
