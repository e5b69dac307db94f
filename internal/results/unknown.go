package results

import (
	batchv1 "k8s.io/api/batch/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Unknown is how many pods of the Job were counted of which nothing is known: their results went to make room for others,
// or were never kept. The Job must have been read before its results; pods that still run may hide some.
func Unknown(job *batchv1.Job, all *stintv1.JobResults) int64 {
	known := int64(0)
	for i := range all.Items {
		known += int64(1 + len(all.Items[i].Earlier))
	}
	return max(all.Dropped, int64(job.Status.Succeeded)+int64(job.Status.Failed)-known)
}
