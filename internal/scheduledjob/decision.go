package scheduledjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Decision is what is to be done: create, write Status, delete, tell; then look again.
type Decision struct {
	// Create are the Jobs of runs that start. One that exists already and is controlled by the ScheduledJob is as good
	// as created.
	Create []*batchv1.Job
	// Delete are Jobs that ended and are not kept. Their end is in the status that is written before.
	Delete []*batchv1.Job
	// RequeueAt is when something becomes due; zero for not by itself.
	RequeueAt time.Time

	draft *draft
	// starts are the tags of the runs of Create.
	starts []string
}

// Outcome is what became of the creation of one Job. The zero Outcome is that it was not tried.
type Outcome struct {
	// Job is what was created or found; nil if neither.
	Job *batchv1.Job
	// Err is of k8s.io/apimachinery/pkg/api/errors. AlreadyExists means that the name is another's.
	Err error
}

// Final reports whether trying again makes no sense: the run has ended before it began.
func (o Outcome) Final() bool {
	return o.Job == nil && (apierrors.IsInvalid(o.Err) || apierrors.IsAlreadyExists(o.Err))
}

// Status is what to write, where it differs from what was observed. outcomes[i] is that of Create[i].
func (d Decision) Status(outcomes []Outcome) stintv1.ScheduledJobStatus {
	return d.applyOutcomes(outcomes).status()
}

// Events is what to tell once the status is written: all but the deletions.
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
