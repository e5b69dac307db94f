package scheduledjob

import (
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// maxRunning bounds the runs at a time where they may be concurrent: the lists are in one object.
const maxRunning = 1000

// start makes the Jobs of the runs whose turn it is. A run of which no Job can be made has ended, and the next one has
// its turn.
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
	var turn []stintv1.Execution
	for _, e := range s.executions.pending.list {
		if len(turn) < room && !s.gate.holds(e) {
			turn = append(turn, e)
		}
	}
	return turn
}

// applyOutcomes notes what became of the start of a run.
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

// explainFailure comes after any other explanation: JobsToGetLive has to find this one, as the Job may exist for all that.
func (p *pending) explainFailure(tag string, o Outcome) {
	if o.Job == nil && o.Err != nil && !o.Final() {
		e := p.find(tag)
		e.Reason, e.Message = ReasonFailedCreate, shortened(o.Err.Error())
	}
}
