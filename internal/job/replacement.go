package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// replacesEndedOnly reports whether a pod is replaced once it has terminated, not already when it is deleted
// (spec.podReplacementPolicy). A pod failure policy implies it, as its rules match how a pod has terminated.
func replacesEndedOnly(job *batchv1.Job) bool {
	policy := job.Spec.PodReplacementPolicy
	return job.Spec.PodFailurePolicy != nil || (policy != nil && *policy == batchv1.Failed)
}

// failed reports whether p counts as a failure. If deleted pods are replaced at once, they also count at once: a pod
// whose node is lost never reaches the phase Failed.
func failed(job *batchv1.Job, p *corev1.Pod) bool {
	if p.Status.Phase == corev1.PodFailed {
		return true
	}
	return !replacesEndedOnly(job) && p.DeletionTimestamp != nil && p.Status.Phase != corev1.PodSucceeded
}
