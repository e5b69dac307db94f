package model_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// mergePhase records in kept the phase of one of a pod's results. Of several results, those with a terminal phase must
// agree, and that phase is kept.
func (l *ledger) mergePhase(kept map[types.UID]corev1.PodPhase, r *stintv1.PodResult) {
	over := func(phase corev1.PodPhase) bool { return phase == corev1.PodSucceeded || phase == corev1.PodFailed }
	was := kept[r.UID]
	if over(was) && over(r.Phase) && was != r.Phase {
		l.Fail("pod %s is kept as %s and as %s", r.Pod, was, r.Phase)
	}
	if !over(was) {
		kept[r.UID] = r.Phase
	}
}

// checkResults expects a result of each pod that the Job has counted, and that of a succeeded pod to say so.
func (l *ledger) checkResults(j *batchv1.Job) {
	if j.DeletionTimestamp != nil {
		return // Results that are not stored yet are not needed any more.
	}
	kept := map[types.UID]corev1.PodPhase{}
	for _, s := range l.slices.All() {
		for _, r := range s.Results {
			if metav1.IsControlledBy(s, j) {
				l.mergePhase(kept, &r)
			}
		}
	}
	a := l.accounts[j.UID]
	for uid := range a.counted {
		f := l.fates[uid]
		if f.finalizerRemovedBy == nil || f.discarded || !l.belongs(f.last, j) {
			continue // It was discarded, or another client removed its finalizer, owner or labels before its result was stored.
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
			l.Fail("there is a result of pod %s, which never existed", uid)
		}
	}
}
