package scheduledjob

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// JobsToGetLive returns the names of the Jobs to get live if they are not cached. Without such a Job in the Observation, a
// run that still runs would count as deleted, or be skipped.
func JobsToGetLive(sj *stintv1.ScheduledJob) []string {
	var names []string
	for _, e := range sj.Status.RunningExecutions {
		names = append(names, JobName(sj.Name, e.Tag))
	}
	for _, e := range sj.Status.PendingExecutions {
		if e.Reason == ReasonFailedCreate {
			names = append(names, JobName(sj.Name, e.Tag))
		}
	}
	return names
}

// findStarted lists as running each run that has a Job, but is pending or not listed: the status write after the creation
// failed.
func (x *executions) findStarted(due cursor) {
	for _, e := range slices.Clone(x.pending.list) {
		if job := x.view.jobs[e.Tag]; job != nil {
			x.start(e, job)
		}
	}
	for _, e := range x.unlisted(due) {
		x.start(e, x.view.jobs[e.Tag])
	}
}

// unlisted are runs that have a Job and are in no list, in the order of their starts. A finished Job is left out if its due
// time has been handled, or if it has none: its run was listed once and removed by the history limit.
func (x *executions) unlisted(due cursor) []stintv1.Execution {
	var found []stintv1.Execution
	listed := sets.New[string]()
	for _, e := range x.all() {
		listed.Insert(e.Tag)
	}
	for tag, job := range x.view.jobs {
		if listed.Has(tag) {
			continue
		}
		e := stintv1.Execution{Tag: tag, CreatedAt: ptr.To(job.CreationTimestamp), StartedAt: ptr.To(job.CreationTimestamp)}
		fillIn(&e, x.view.now)
		if !jobcore.Finished(job) || due.before(e) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b stintv1.Execution) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt.Time), cmp.Compare(a.Tag, b.Tag))
	})
	return found
}
