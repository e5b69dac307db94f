package model_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// keep takes in one of perhaps several results of a pod. What tells of its end holds, and there is but one end.
func (l *ledger) keep(kept map[types.UID]corev1.PodPhase, r *stintv1.PodResult) {
	over := func(phase corev1.PodPhase) bool { return phase == corev1.PodSucceeded || phase == corev1.PodFailed }
	was := kept[r.UID]
	if over(was) && over(r.Phase) && was != r.Phase {
		l.Fail("pod %s is kept as %s and as %s", r.Pod, was, r.Phase)
	}
	if !over(was) {
		kept[r.UID] = r.Phase
	}
}

// checkResults expects one result for each pod that the Job counted and did not take for ended before it had.
func (l *ledger) checkResults(j *batchv1.Job) {
	if j.DeletionTimestamp != nil {
		return // what is not written yet goes with it
	}
	kept := map[types.UID]corev1.PodPhase{}
	for _, s := range l.slices.All() {
		for _, r := range s.Results {
			if metav1.IsControlledBy(s, j) {
				l.keep(kept, &r)
			}
		}
	}
	a := l.accounts[j.UID]
	for uid := range a.counted {
		f := l.fates[uid]
		if f.releasedBy == nil || f.discarded || !l.belongs(f.last, j) {
			continue // another client took it away before the controller could see what came of it, or it was not wanted any more
		}
		phase, known := kept[uid]
		if !known {
			l.Fail("nothing is kept of pod %s, which was counted", f.last.Name)
		}
		if a.succeeded[uid] && phase != corev1.PodSucceeded {
			l.Fail("pod %s has succeeded and is kept as %s", f.last.Name, phase)
		}
	}
	for uid := range kept {
		if l.fates[uid] == nil {
			l.Fail("there is a result of pod %s, which never was", uid)
		}
	}
}
