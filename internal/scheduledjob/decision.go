package scheduledjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// Decision is what is to be done: create, write Status, delete, tell; then look again.
type Decision struct {
	// Create are the Jobs of runs that start, in this order. One that exists already and is controlled by the
	// ScheduledJob is as good as created.
	Create []*batchv1.Job
	// Delete are Jobs that ended and are not kept. Their end is in the status that is written before.
	Delete []*batchv1.Job
	// Events are told once the status is written.
	Events []Event
	// LookAgain is when something becomes due; zero for not by itself.
	LookAgain time.Time
}

// Outcome is what became of the creation of one Job.
type Outcome struct {
	// Job is what was created or found; nil if neither.
	Job *batchv1.Job
	// Err is of k8s.io/apimachinery/pkg/api/errors. AlreadyExists means that somebody else has the name.
	Err error
}

// Event is one to be told of the ScheduledJob.
type Event struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type    string
	Reason  string
	Message string
}
