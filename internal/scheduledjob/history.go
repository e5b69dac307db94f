package scheduledjob

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	jobcore "github.com/stint-dev/stint/internal/job"
)

// historyToDelete are the finished Jobs beyond the history limits, oldest first.
func historyToDelete(v *view) []*batchv1.Job {
	var successful, failed []*batchv1.Job
	for _, job := range v.jobs {
		switch c := jobcore.End(job); {
		case c == nil || job.DeletionTimestamp != nil:
		case c.Type == batchv1.JobComplete:
			successful = append(successful, job)
		default:
			failed = append(failed, job)
		}
	}
	surplus := append(oldest(successful, successfulJobsLimit(v.sj)), oldest(failed, failedJobsLimit(v.sj))...)
	slices.SortFunc(surplus, byJobEnd)
	return surplus
}

// oldest are all but the newest keep Jobs.
func oldest(jobs []*batchv1.Job, keep int) []*batchv1.Job {
	slices.SortFunc(jobs, byJobEnd)
	return jobs[:max(0, len(jobs)-keep)]
}

func byJobEnd(a, b *batchv1.Job) int {
	return cmp.Or(jobcore.End(a).LastTransitionTime.Compare(jobcore.End(b).LastTransitionTime.Time), cmp.Compare(a.Name, b.Name))
}
