package scheduledjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Decision is what is to be done, in this order: create Jobs, write Status, record Events, delete Jobs; requeue at RequeueAt.
type Decision struct {
	// Create are the Jobs of runs that start. A Job that exists already and is controlled by the ScheduledJob counts as
	// created.
	Create []*batchv1.Job
	// Delete are finished Jobs beyond the history limits. The status that is written before has their end.
	Delete []*batchv1.Job
	// RequeueAt is when the next sync is needed; zero if none is before something changes.
	RequeueAt time.Time

	draft *draft
	// starts are the tags of the runs of Create.
	starts []string
}

// Outcome is the result of creating one Job. The zero Outcome means that creating it was not tried.
type Outcome struct {
	// Job is the Job that was created or found; nil if neither.
	Job *batchv1.Job
	// Err is the API server's answer. AlreadyExists means that a Job of another owner has the name.
	Err error
}

// Final reports whether another try cannot succeed either, so that the run has failed without a Job.
func (o Outcome) Final() bool {
	return o.Job == nil && (apierrors.IsInvalid(o.Err) || apierrors.IsAlreadyExists(o.Err))
}

// Status returns the status to write if it differs from the observed one. outcomes[i] is that of Create[i].
func (d Decision) Status(outcomes []Outcome) stintv1.ScheduledJobStatus {
	return d.applyOutcomes(outcomes).status()
}

// Events returns the events to record once the status is written: all but those of deletions.
func (d Decision) Events(outcomes []Outcome) []Event {
	return d.applyOutcomes(outcomes).events
}

func (d Decision) applyOutcomes(outcomes []Outcome) *draft {
	v := d.draft.view
	s := newDraft(v, d.draft.status(), d.draft.events)
	if v.sj.DeletionTimestamp != nil {
		return s
	}
	tried := d.starts[:min(len(d.starts), len(outcomes))]
	for i, tag := range tried {
		s.applyOutcomes(tag, d.Create[i].Name, outcomes[i])
	}
	s.executions.pending.explain(s.waiting())
	for i, tag := range tried {
		s.executions.pending.explainFailure(tag, outcomes[i])
	}
	s.executions.completed.trim(completedLimit(v.sj), s.timetable.cursor)
	return s
}
