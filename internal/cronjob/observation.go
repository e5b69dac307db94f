package cronjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Observation is all that a decision depends on.
type Observation struct {
	// CronJob is its newest version.
	CronJob *batchv1.CronJob
	// Jobs are all that it controls. What status.active lists and is not among them is gone.
	Jobs []*batchv1.Job
	// Deleted are the Jobs of status.active that the controller has deleted itself: nobody misses them.
	Deleted map[types.UID]bool
	// ScheduleSince is when the schedule or its zone was seen to change; zero if it was not. Times before it were never
	// due by the new schedule.
	ScheduleSince time.Time
	Now           time.Time
}
