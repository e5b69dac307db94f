package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/podstatus"
)

// TerminatedPods are numbers of pods for which IsLeft is true.
type TerminatedPods struct {
	// Total is how many there are, OfJob how many of them the Job has, and Most how many the Job has that has most.
	Total, OfJob, Most int
}

// leastShare is the part of the limit that each Job may leave, however many others there are.
const leastShare = 10

// isFull reports whether another pod of the Job would take the place of one of a Job that has fewer.
func (n TerminatedPods) isFull(limit int) bool {
	return n.Total >= limit && n.OfJob >= n.Most && n.OfJob >= limit/leastShare
}

// beyondTerminatedLimit returns those of the pods about to lose their finalizer that are deleted with it, as enough terminated
// pods are left. They have succeeded, so that hardly anyone needs to see them. A pod of a Job that is being deleted is left
// to the garbage collector, which may have to make it an orphan. Failed pods that are about to be deleted are not left.
//
// A pod that is deleted in this way costs no write. One that stays has another deleted in its place, in a write of its own
// (controller/podgc). So only the Job that has most terminated pods already does not get more of them.
func beyondTerminatedLimit(v view, pods, deleteFailed []*corev1.Pod) (beyond []*corev1.Pod) {
	if v.TerminatedPodsLimit <= 0 || v.job.DeletionTimestamp != nil {
		return nil
	}
	n := v.TerminatedPods
	n.Total -= len(deleteFailed)
	n.OfJob -= len(deleteFailed)
	for _, p := range pods {
		switch {
		case n.isFull(v.TerminatedPodsLimit) && mayGoWithFinalizer(p):
			beyond = append(beyond, p)
		case podstatus.IsTerminated(p) && p.DeletionTimestamp == nil:
			n.Total++
			n.OfJob++
		}
	}
	return beyond
}

// mayGoWithFinalizer reports whether p has succeeded and nothing but the tracking finalizer keeps it.
func mayGoWithFinalizer(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded && p.DeletionTimestamp == nil &&
		len(p.Finalizers) == 1 && p.Finalizers[0] == batchv1.JobTrackingFinalizer
}

// IsLeft reports whether p has terminated, and has no Job that still has to count it.
func IsLeft(p *corev1.Pod) bool { return !IsRelevant(p) && p.DeletionTimestamp == nil }
