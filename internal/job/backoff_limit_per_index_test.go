package job

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// A pod that did not say when it ended seems to have ended when it was deleted. It may have failed long before others.
func TestAnIndexRemembersItsLastFailureWhateverIsDeletedLater(t *testing.T) {
	job := aJob(withIndexes, func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.BackoffLimitPerIndex = ptr.To[int32](1), ptr.To[int32](5)
	})
	lost := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	deletedAt := func(seconds int) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(at(seconds)) }
	}
	for sentence, pods := range map[string][]*corev1.Pod{
		"none is deleted":       {aPod("a", withIndex(0), lost), aPod("b", withIndex(0), withFailures(1), lost)},
		"the first is deleted":  {aPod("a", withIndex(0), lost, deletedAt(20)), aPod("b", withIndex(0), withFailures(1), exited(1, 10))},
		"the second is deleted": {aPod("a", withIndex(0), exited(1, 10)), aPod("b", withIndex(0), withFailures(1), lost, deletedAt(5))},
	} {
		d := Decide(seen(job, pods...))
		if len(d.Create) != 1 || failuresBefore(d.Create[0]) != 2 {
			t.Errorf("%s: creates %+v, want one pod after two failures", sentence, d.Create)
		}
	}
}
