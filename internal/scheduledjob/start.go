package scheduledjob

import (
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// maxRunning bounds concurrent runs, as one object lists them all.
const maxRunning = 1000

// start builds the Jobs of the runs that may start now. A run whose Job cannot be built fails, and the next one may start
// instead.
func (s *draft) start() (tags []string, jobs []*batchv1.Job) {
	if s.view.Template == nil {
		return nil, nil
	}
	for _, e := range s.startable() {
		job, err := BuildJob(s.view.sj, s.view.Template, e)
		if err != nil {
			s.executions.fail(e, ReasonInvalidOverrides, err.Error())
			return s.start()
		}
		tags, jobs = append(tags, e.Tag), append(jobs, job)
	}
	return tags, jobs
}

// startable are the pending runs that may start now.
func (s *draft) startable() []stintv1.Execution {
	limit := 1
	if concurrent(s.view.sj) {
		limit = maxRunning
	}
	room := limit - len(s.executions.running.list)
	var ready []stintv1.Execution
	for _, e := range s.executions.pending.list {
		if len(ready) < room && !s.gate.holds(e) {
			ready = append(ready, e)
		}
	}
	return ready
}

// applyOutcomes lists a run as started or failed, by the outcome of creating its Job.
func (s *draft) applyOutcomes(tag, jobName string, o Outcome) {
	e := *s.executions.pending.find(tag)
	if o.Job == nil && o.Err != nil {
		s.events.addWarning(ReasonFailedCreate, "Error creating job %s: %v", jobName, o.Err)
	}
	switch {
	case o.Job != nil:
		s.executions.start(e, o.Job)
	case o.Final():
		s.executions.fail(e, string(apierrors.ReasonForError(o.Err)), o.Err.Error())
	}
}

// explainFailure replaces the reason that explain has set: JobsToGetLive looks for FailedCreate, as the Job may exist despite
// the error.
func (p *pending) explainFailure(tag string, o Outcome) {
	if o.Job == nil && o.Err != nil && !o.Final() {
		e := p.find(tag)
		e.Reason, e.Message = ReasonFailedCreate, shortened(o.Err.Error())
	}
}
