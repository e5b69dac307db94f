package cronjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Observation is all that a decision depends on.
type Observation struct {
	// CronJob is the newest version that the controller has observed.
	CronJob *batchv1.CronJob
	// Jobs are all that it controls. A Job that status.active lists and that is not among them has been deleted.
	Jobs []*batchv1.Job
	// Deleted are the Jobs of status.active that the controller has deleted itself: it records no MissingJob event for them.
	Deleted map[types.UID]bool
	// ScheduleSince is when a change of the schedule or its time zone was observed; zero if none was. Times before it are not due
	// by the new schedule.
	ScheduleSince time.Time
	Now           time.Time
}
