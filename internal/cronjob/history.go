package cronjob

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
)

// historyToDelete are the finished Jobs beyond the history limits: those that started first.
func (v *view) historyToDelete() []*batchv1.Job {
	spec := &v.cronJob.Spec
	return append(v.beyondHistoryLimit(spec.SuccessfulJobsHistoryLimit, batchv1.JobComplete),
		v.beyondHistoryLimit(spec.FailedJobsHistoryLimit, batchv1.JobFailed)...)
}

func (v *view) beyondHistoryLimit(limit *int32, how batchv1.JobConditionType) []*batchv1.Job {
	if limit == nil {
		return nil
	}
	var jobs []*batchv1.Job
	for _, job := range v.ended {
		if end(job) == how && job.DeletionTimestamp == nil {
			jobs = append(jobs, job)
		}
	}
	slices.SortFunc(jobs, byStart)
	return jobs[:max(0, len(jobs)-int(*limit))]
}

// byStart orders Jobs by start time, those that never started last.
func byStart(a, b *batchv1.Job) int {
	started, other := a.Status.StartTime, b.Status.StartTime
	switch {
	case started == nil && other != nil:
		return 1
	case started != nil && other == nil:
		return -1
	case started != nil && !started.Equal(other):
		return started.Compare(other.Time)
	}
	return cmp.Compare(a.Name, b.Name)
}
