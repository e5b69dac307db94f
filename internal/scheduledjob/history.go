package scheduledjob

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// surplusJobs are Jobs that ended and that the limits do not keep, oldest first.
func (s *draft) surplusJobs() []*batchv1.Job {
	var successful, failed []*batchv1.Job
	for _, job := range s.jobs {
		switch c := jobcore.End(job); {
		case c == nil || job.DeletionTimestamp != nil:
		case c.Type == batchv1.JobComplete:
			successful = append(successful, job)
		default:
			failed = append(failed, job)
		}
	}
	surplus := append(oldest(successful, successfulJobsLimit(s.sj)), oldest(failed, failedJobsLimit(s.sj))...)
	slices.SortFunc(surplus, byJobEnd)
	return surplus
}

// oldest are all but the newest so many.
func oldest(jobs []*batchv1.Job, keep int) []*batchv1.Job {
	slices.SortFunc(jobs, byJobEnd)
	return jobs[:max(0, len(jobs)-keep)]
}

func byJobEnd(a, b *batchv1.Job) int {
	return cmp.Or(jobcore.End(a).LastTransitionTime.Compare(jobcore.End(b).LastTransitionTime.Time), cmp.Compare(a.Name, b.Name))
}

// maxCompletedSize bounds the history in bytes: an object has room for a megabyte and a half.
const maxCompletedSize = 1 << 19

// trimCompleted forgets the oldest runs that ended, but none whose Job could be taken for a new one.
func (s *draft) trimCompleted() {
	list := s.status.CompletedExecutions
	size := 0
	for _, e := range list {
		size += sizeOf(e)
	}
	for len(list) > 0 && (len(list) > completedLimit(s.sj) || size > maxCompletedSize) && !s.ahead(list[0]) {
		size -= sizeOf(list[0])
		list = list[1:]
	}
	s.status.CompletedExecutions = slices.Clone(list)
}

// sizeOf is about what an entry takes.
func sizeOf(e stintv1.Execution) int {
	size := 512 + len(e.Message) + sizeOfOverrides(e.Overrides)
	for _, c := range e.ExitCodes {
		size += 48 + len(c.Indexes)
	}
	return size
}

func sizeOfOverrides(o *stintv1.Overrides) int {
	size := 0
	if o == nil {
		return size
	}
	for _, v := range o.Env {
		size += 32 + len(v.Name) + len(v.Value)
	}
	for _, arg := range o.Args {
		size += 4 + len(arg)
	}
	return size
}

// maxOverrides bounds what is kept of a run that does not wait any more: its Job has it all.
const maxOverrides = 1024

// KeptOverrides is what the status shows of the overrides of a run that does not wait any more.
func KeptOverrides(o *stintv1.Overrides) *stintv1.Overrides {
	if sizeOfOverrides(o) > maxOverrides {
		return nil
	}
	return o
}
