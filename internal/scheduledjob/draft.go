package scheduledjob

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/schedule"
)

// draft is a status on its way from what was observed to what is to be written.
type draft struct {
	obs Observation
	sj  *stintv1.ScheduledJob
	// now is in whole seconds, as all that is written.
	now time.Time
	// jobs are those of runs, by tag.
	jobs map[string]*batchv1.Job

	status *stintv1.ScheduledJobStatus
	events []Event

	// due is the schedule in force. Nil: nothing is due.
	due schedule.Schedule
	// changed tells that the schedule is another than before: it must be written before anything is due by it.
	changed bool
	skipped skipped
	// more tells that due times have to wait until there is room among those that are pending.
	more bool
}

func look(obs Observation) *draft {
	s := &draft{
		obs:    obs,
		sj:     obs.ScheduledJob,
		now:    obs.Now.Truncate(time.Second),
		jobs:   map[string]*batchv1.Job{},
		status: obs.ScheduledJob.Status.DeepCopy(),
	}
	for _, job := range obs.Jobs {
		if tag, ok := tagOf(s.sj.Name, job.Name); ok && metav1.IsControlledBy(job, s.sj) {
			s.jobs[tag] = job
		}
	}
	return s
}

// clone leaves the original alone whatever is done to its status and events.
func (s *draft) clone() *draft {
	c := *s
	c.status, c.events = s.status.DeepCopy(), slices.Clone(s.events)
	return &c
}

// listed tells whether a run is in one of the lists.
func (s *draft) listed(tag string) bool {
	return has(s.status.PendingExecutions, tag) || has(s.status.RunningExecutions, tag) || has(s.status.CompletedExecutions, tag)
}

func has(list []stintv1.Execution, tag string) bool {
	return slices.ContainsFunc(list, func(e stintv1.Execution) bool { return e.Tag == tag })
}

func without(list []stintv1.Execution, tag string) []stintv1.Execution {
	return slices.DeleteFunc(list, func(e stintv1.Execution) bool { return e.Tag == tag })
}

func (s *draft) tell(reason, format string, args ...any) {
	s.events = append(s.events, Event{corev1.EventTypeNormal, reason, fmt.Sprintf(format, args...)})
}

func (s *draft) warn(reason, format string, args ...any) {
	s.events = append(s.events, Event{corev1.EventTypeWarning, reason, fmt.Sprintf(format, args...)})
}

func written(t time.Time) *metav1.Time {
	w := metav1.NewTime(t)
	return &w
}
