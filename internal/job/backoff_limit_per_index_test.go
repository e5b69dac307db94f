package job

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// A pod whose status has no end time seems to have ended when it was deleted. It may have failed long before others.
func TestAnIndexRemembersItsLastFailureWhateverIsDeletedLater(t *testing.T) {
	job := aJob().Indexed().Completions(1).BackoffLimitPerIndex(5).Obj()
	for sentence, pods := range map[string][]*corev1.Pod{
		"none is deleted":       {aPod("a").Index(0).Phase(corev1.PodFailed).Obj(), aPod("b").Index(0).IndexFailureCount(1).Phase(corev1.PodFailed).Obj()},
		"the first is deleted":  {aPod("a").Index(0).Phase(corev1.PodFailed).DeletionTimestamp(at(20)).Obj(), aPod("b").Index(0).IndexFailureCount(1).Exited(1, at(10)).Obj()},
		"the second is deleted": {aPod("a").Index(0).Exited(1, at(10)).Obj(), aPod("b").Index(0).IndexFailureCount(1).Phase(corev1.PodFailed).DeletionTimestamp(at(5)).Obj()},
	} {
		d := Decide(observed(job, pods...))
		if len(d.Create) != 1 || failuresBefore(d.Create[0]) != 2 {
			t.Errorf("%s: creates %+v, want one pod after two failures", sentence, d.Create)
		}
	}
}
