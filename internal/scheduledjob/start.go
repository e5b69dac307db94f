package scheduledjob

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// maxRunning bounds the runs at a time where they may be concurrent: the lists are in one object.
const maxRunning = 1000

// start makes the Jobs of the runs whose turn it is. A run of which no Job can be made has ended, and the next one has
// its turn.
func (s *draft) start() (tags []string, jobs []*batchv1.Job) {
	if s.obs.Template == nil {
		return nil, nil
	}
	for _, e := range s.turn() {
		job, err := BuildJob(s.sj, s.obs.Template, e)
		if err != nil {
			s.fail(e, ReasonInvalidOverrides, err.Error())
			return s.start()
		}
		tags, jobs = append(tags, e.Tag), append(jobs, job)
	}
	return tags, jobs
}

// turn are the pending runs that may start now.
func (s *draft) turn() []stintv1.Execution {
	limit := 1
	if concurrent(s.sj) {
		limit = maxRunning
	}
	room := limit - len(s.status.RunningExecutions)
	var turn []stintv1.Execution
	for _, e := range s.status.PendingExecutions {
		if len(turn) < room && !s.held(e) {
			turn = append(turn, e)
		}
	}
	return turn
}

// held tells that a run waits for a person. Runs on demand do not.
func (s *draft) held(e stintv1.Execution) bool {
	return e.Trigger == stintv1.TriggerSchedule && (suspended(s.sj) || s.isTrue(stintv1.ConditionBlocked))
}

// settle notes what became of the start of a run.
func (s *draft) settle(tag, jobName string, o Outcome) {
	e := *s.pending(tag)
	if o.Job == nil && o.Err != nil {
		s.warn(ReasonFailedCreate, "Error creating job %s: %v", jobName, o.Err)
	}
	switch {
	case o.Job != nil:
		s.run(e, o.Job)
	case o.Final():
		s.fail(e, string(apierrors.ReasonForError(o.Err)), o.Err.Error())
	}
}

// explainFailure comes after any other explanation: LookUp has to find this one, as the Job may exist for all that.
func (s *draft) explainFailure(tag string, o Outcome) {
	if o.Job == nil && o.Err != nil && !o.Final() {
		e := s.pending(tag)
		e.Reason, e.Message = ReasonFailedCreate, shortened(o.Err.Error())
	}
}

func (s *draft) pending(tag string) *stintv1.Execution {
	i := slices.IndexFunc(s.status.PendingExecutions, func(e stintv1.Execution) bool { return e.Tag == tag })
	return &s.status.PendingExecutions[i]
}

// run moves a run from the pending ones, if it is there, to those that run.
func (s *draft) run(e stintv1.Execution, job *batchv1.Job) {
	s.status.PendingExecutions = without(s.status.PendingExecutions, e.Tag)
	e.Status, e.Reason, e.Message = stintv1.ExecutionRunning, "", ""
	e.Overrides = KeptOverrides(e.Overrides)
	e.JobName, e.JobUID = job.Name, job.UID
	e.StartedAt = ptr.To(job.CreationTimestamp)
	s.status.RunningExecutions = append(s.status.RunningExecutions, e)
	s.status.ScheduleCount++
	s.tell(ReasonSuccessfulCreate, "Created job %s", job.Name)
}
