package scheduledjob

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// running are the runs that have started and have not ended, in the order of their starts.
type running struct {
	list []stintv1.Execution
	// scheduleCount is how many have started ever.
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

// findEnded lists as completed what has ended, in the order of the ends.
func (x *executions) findEnded() {
	over := x.running.takeEnded(x.view)
	slices.SortStableFunc(over, func(a, b stintv1.Execution) int { return a.CompletedAt.Compare(b.CompletedAt.Time) })
	for _, e := range over {
		x.completed.add(e)
	}
}

// takeEnded removes the runs that have ended, and returns them with how they did.
func (r *running) takeEnded(v *view) []stintv1.Execution {
	var over []stintv1.Execution
	going := r.list[:0]
	for _, e := range r.list {
		job := v.jobs[e.Tag]
		if job == nil || jobcore.Finished(job) {
			over = append(over, ended(v, e))
			continue
		}
		// The Job may have been made anew.
		e.JobName, e.JobUID = job.Name, job.UID
		going = append(going, e)
	}
	r.list = going
	return over
}

// ended says how a run ended that has no Job any more, or one that ended.
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
		// Its controller does not say when, and a time must be written.
		e.CompletedAt = metaTime(v.now)
	}
	e.Reason, e.Message = c.Reason, shortened(c.Message)
	e.ExitCodes = v.ExitCodes[job.UID]
	return e
}
