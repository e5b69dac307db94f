package scheduledjob

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// LookUp names the Jobs that an Observation must tell of for certain, even if a cache does not show them: without them
// a run would count as ended, or be skipped, that goes on.
func LookUp(sj *stintv1.ScheduledJob) []string {
	var names []string
	for _, e := range sj.Status.RunningExecutions {
		names = append(names, JobName(sj.Name, e.Tag))
	}
	for _, e := range sj.Status.PendingExecutions {
		if e.Reason == ReasonFailedCreate {
			names = append(names, JobName(sj.Name, e.Tag))
		}
	}
	return names
}

// findStarted lists as running what has a Job: the status that would have said so was not written.
func (s *draft) findStarted() {
	for _, e := range slices.Clone(s.status.PendingExecutions) {
		if job := s.jobs[e.Tag]; job != nil {
			s.run(e, job)
		}
	}
	for _, e := range s.unlisted() {
		s.run(e, s.jobs[e.Tag])
	}
}

// unlisted are runs that have a Job and are in no list, in the order of their starts. A Job that has ended may only be one
// that has been forgotten, unless its due time has not been dealt with.
func (s *draft) unlisted() []stintv1.Execution {
	var found []stintv1.Execution
	listed := sets.New[string]()
	for _, list := range s.lists() {
		for _, e := range list {
			listed.Insert(e.Tag)
		}
	}
	for tag, job := range s.jobs {
		if listed.Has(tag) {
			continue
		}
		e := stintv1.Execution{Tag: tag, CreatedAt: ptr.To(job.CreationTimestamp), StartedAt: ptr.To(job.CreationTimestamp)}
		s.fillIn(&e)
		if !jobcore.Finished(job) || s.ahead(e) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b stintv1.Execution) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt.Time), cmp.Compare(a.Tag, b.Tag))
	})
	return found
}

// ahead tells that a run is of a due time that the cursor has not passed.
func (s *draft) ahead(e stintv1.Execution) bool {
	return e.DueAt != nil && e.DueAt.After(s.cursor())
}

// findEnded lists as completed what has ended, in the order of the ends.
func (s *draft) findEnded() {
	var over []stintv1.Execution
	running := s.status.RunningExecutions[:0]
	for _, e := range s.status.RunningExecutions {
		job := s.jobs[e.Tag]
		if job != nil && !jobcore.Finished(job) {
			// Somebody may have made the Job anew.
			e.JobName, e.JobUID = job.Name, job.UID
			running = append(running, e)
			continue
		}
		over = append(over, s.end(e, job))
	}
	s.status.RunningExecutions = running
	slices.SortStableFunc(over, func(a, b stintv1.Execution) int { return a.CompletedAt.Compare(b.CompletedAt.Time) })
	for _, e := range over {
		s.complete(e)
	}
}

// end says how a run ended that has no Job any more, or one that ended.
func (s *draft) end(e stintv1.Execution, job *batchv1.Job) stintv1.Execution {
	if job == nil {
		e.CompletedAt, e.Success = written(s.now), ptr.To(false)
		e.Reason, e.Message = ReasonJobDeleted, "the Job was deleted before it ended"
		return e
	}
	c := jobcore.End(job)
	e.JobName, e.JobUID = job.Name, job.UID
	e.CompletedAt, e.Success = written(s.endOf(c)), ptr.To(c.Type == batchv1.JobComplete)
	e.Reason, e.Message = c.Reason, shortened(c.Message)
	e.ExitCodes = s.obs.ExitCodes[job.UID]
	return e
}

// endOf is when a Job ended, or now if its controller does not say: a time must be written.
func (s *draft) endOf(c *batchv1.JobCondition) time.Time {
	if c.LastTransitionTime.IsZero() {
		return s.now
	}
	return c.LastTransitionTime.Time
}
