package scheduledjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// view is an observation with its Jobs sorted. It is built once per decision and never changed.
type view struct {
	Observation
	sj *stintv1.ScheduledJob
	// now is in whole seconds, like all times in the status.
	now time.Time
	// jobs are the Jobs of runs, by tag.
	jobs map[string]*batchv1.Job
}

func newView(obs Observation) *view {
	v := &view{Observation: obs, sj: obs.ScheduledJob, now: obs.Now.Truncate(time.Second), jobs: map[string]*batchv1.Job{}}
	for _, job := range obs.Jobs {
		if tag, ok := tagOf(v.sj.Name, job.Name); ok && metav1.IsControlledBy(job, v.sj) {
			v.jobs[tag] = job
		}
	}
	return v
}
