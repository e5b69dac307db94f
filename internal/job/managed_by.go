package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// ManagedBy is the value of spec.managedBy that hands a Job to Stint on a cluster with another Job controller.
const ManagedBy = "stint.dev/job-controller"

// ManagerOf returns the name of the controller that manages a Job, which is Kubernetes' own by default.
func ManagerOf(job *batchv1.Job) string {
	return ptr.Deref(job.Spec.ManagedBy, batchv1.JobControllerName)
}

// hasExternalController reports whether spec.managedBy names neither Kubernetes' own controller nor ours.
func hasExternalController(job *batchv1.Job) bool {
	return !slices.Contains([]string{batchv1.JobControllerName, ManagedBy}, ManagerOf(job))
}

// IsLeftToKubernetes reports whether Kubernetes' own controller manages a Job on a cluster, as far as the Job shows:
// spec.managedBy does not name ours, and the status has no condition that only ours writes.
func IsLeftToKubernetes(job *batchv1.Job) bool {
	return ManagerOf(job) == batchv1.JobControllerName && !slices.ContainsFunc(job.Status.Conditions, isDependency)
}
