package scheduledjob

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// running are the runs that have started and are not finished, in the order of their starts.
type running struct {
	list []stintv1.Execution
	// scheduleCount is how many runs have ever started.
	scheduleCount int64
	events        *events
}

func (r *running) add(e stintv1.Execution, job *batchv1.Job) {
	e.Status, e.Reason, e.Message = stintv1.ExecutionRunning, "", ""
	e.Overrides = KeptOverrides(e.Overrides)
	e.JobName, e.JobUID = job.Name, job.UID
	e.StartedAt = ptr.To(job.CreationTimestamp)
	r.list = append(r.list, e)
	r.scheduleCount++
	r.events.addEvent(ReasonSuccessfulCreate, "Created job %s", job.Name)
}

// findEnded lists finished runs as completed, in the order in which they finished.
func (x *executions) findEnded() {
	finished := x.running.takeEnded(x.view)
	slices.SortStableFunc(finished, func(a, b stintv1.Execution) int { return a.CompletedAt.Compare(b.CompletedAt.Time) })
	for _, e := range finished {
		x.completed.add(e)
	}
}

// takeEnded removes the finished runs, and returns them with their outcomes.
func (r *running) takeEnded(v *view) []stintv1.Execution {
	var finished []stintv1.Execution
	unfinished := r.list[:0]
	for _, e := range r.list {
		job := v.jobs[e.Tag]
		if job == nil || jobcore.Finished(job) {
			finished = append(finished, ended(v, e))
			continue
		}
		// The Job may have been deleted and created again.
		e.JobName, e.JobUID = job.Name, job.UID
		unfinished = append(unfinished, e)
	}
	r.list = unfinished
	return finished
}

// ended returns a run with the outcome of its Job, which is finished or deleted.
func ended(v *view, e stintv1.Execution) stintv1.Execution {
	job := v.jobs[e.Tag]
	if job == nil {
		e.CompletedAt, e.Success = metaTime(v.now), ptr.To(false)
		e.Reason, e.Message = ReasonJobDeleted, "the Job was deleted before it finished"
		return e
	}
	c := jobcore.End(job)
	e.JobName, e.JobUID = job.Name, job.UID
	e.CompletedAt, e.Success = ptr.To(c.LastTransitionTime), ptr.To(c.Type == batchv1.JobComplete)
	if e.CompletedAt.IsZero() {
		// The Job's controller set no time, but completedAt is required.
		e.CompletedAt = metaTime(v.now)
	}
	e.Reason, e.Message = c.Reason, shortened(c.Message)
	e.ExitCodes = v.ExitCodes[job.UID]
	return e
}
