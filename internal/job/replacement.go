package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// replacesEndedOnly tells that a pod is replaced once it has ended, not already when it is told to end
// (spec.podReplacementPolicy). A pod failure policy implies it: it judges pods by how they ended.
func replacesEndedOnly(job *batchv1.Job) bool {
	policy := job.Spec.PodReplacementPolicy
	return job.Spec.PodFailurePolicy != nil || (policy != nil && *policy == batchv1.Failed)
}

// failed reports whether p counts as a failure. Pods that are told to end count at once where they are replaced at once:
// a pod whose node is lost never gets to the phase Failed.
func failed(job *batchv1.Job, p *corev1.Pod) bool {
	if p.Status.Phase == corev1.PodFailed {
		return true
	}
	return !replacesEndedOnly(job) && p.DeletionTimestamp != nil && p.Status.Phase != corev1.PodSucceeded
}
