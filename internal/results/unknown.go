package results

import (
	batchv1 "k8s.io/api/batch/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Unknown is how many pods of the Job are counted but have no result: it was deleted to make room for others, or never
// kept. The Job must have been read before its results. The number may be too low, as all also has results of pods that
// still run.
func Unknown(job *batchv1.Job, all *stintv1.JobResults) int64 {
	known := int64(0)
	for i := range all.Items {
		known += int64(1 + len(all.Items[i].Earlier))
	}
	return max(all.Dropped, int64(job.Status.Succeeded)+int64(job.Status.Failed)-known)
}
