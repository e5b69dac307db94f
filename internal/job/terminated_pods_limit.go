package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/podstatus"
)

// beyondTerminatedLimit returns those of the pods about to lose their finalizer that are deleted with it, as the Job has left
// enough terminated pods. They have succeeded, so nobody needs to see why, and no delay depends on them. A pod of a Job
// that is being deleted is left to the garbage collector, which may have to make it an orphan.
func beyondTerminatedLimit(v view, pods []*corev1.Pod) (beyond []*corev1.Pod) {
	if v.TerminatedPodsLimit <= 0 || v.job.DeletionTimestamp != nil {
		return nil
	}
	room := v.TerminatedPodsLimit - v.TerminatedPods
	for _, p := range pods {
		switch {
		case room <= 0 && mayGoWithFinalizer(p):
			beyond = append(beyond, p)
		case podstatus.IsTerminated(p) && p.DeletionTimestamp == nil:
			room--
		}
	}
	return beyond
}

// mayGoWithFinalizer reports whether p has succeeded and nothing but the tracking finalizer keeps it.
func mayGoWithFinalizer(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded && p.DeletionTimestamp == nil &&
		len(p.Finalizers) == 1 && p.Finalizers[0] == batchv1.JobTrackingFinalizer
}

// IsLeft reports whether p counts in Observation.TerminatedPods: it has terminated, and its Job has let it go.
func IsLeft(p *corev1.Pod) bool { return !IsRelevant(p) && p.DeletionTimestamp == nil }
