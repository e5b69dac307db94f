package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// ManagedBy is the value of spec.managedBy that hands a Job to Stint on a cluster with another Job controller.
const ManagedBy = "stint.dev/job-controller"

// ManagerOf names the controller that a Job is left to. A Job that names none is Kubernetes'.
func ManagerOf(job *batchv1.Job) string {
	return ptr.Deref(job.Spec.ManagedBy, batchv1.JobControllerName)
}

// hasExternalController reports whether a Job is neither Kubernetes' nor ours.
func hasExternalController(job *batchv1.Job) bool {
	return !slices.Contains([]string{batchv1.JobControllerName, ManagedBy}, ManagerOf(job))
}

// IsLeftToKubernetes reports whether nothing shows that a Job on a cluster is ours.
func IsLeftToKubernetes(job *batchv1.Job) bool {
	return ManagerOf(job) == batchv1.JobControllerName && !slices.ContainsFunc(job.Status.Conditions, isDependency)
}
