package scheduledjob

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// draft is a status under construction: it begins as the observed one and ends as the one to write. Each part has one owner.
type draft struct {
	view         *view
	events       events
	conditions   conditions
	gate         gate
	executions   executions
	timetable    timetable
	skippedCount int64
}

// newDraft begins with copies of the status and of the events decided so far.
func newDraft(v *view, from stintv1.ScheduledJobStatus, recorded events) *draft {
	status := from.DeepCopy()
	s := &draft{view: v, events: slices.Clone(recorded), skippedCount: status.SkippedCount}
	s.conditions = conditions{list: status.Conditions, observedGeneration: status.ObservedGeneration, generation: v.sj.Generation, now: v.now}
	s.gate = gate{sj: v.sj, conditions: &s.conditions, events: &s.events}
	s.executions = executions{
		view:    v,
		pending: pending{list: status.PendingExecutions, events: &s.events},
		running: running{list: status.RunningExecutions, scheduleCount: status.ScheduleCount, events: &s.events},
		completed: completed{list: status.CompletedExecutions, lastSuccessfulTime: status.LastSuccessfulTime,
			gate: &s.gate, events: &s.events},
	}
	s.timetable = timetable{view: v, conditions: &s.conditions, events: &s.events,
		observed: status.Schedule, cursor: cursor{status.LastScheduleTime}, next: status.NextScheduleTime}
	return s
}

// status returns the parts as one status.
func (s *draft) status() stintv1.ScheduledJobStatus {
	return stintv1.ScheduledJobStatus{
		ObservedGeneration:  s.conditions.observedGeneration,
		Conditions:          s.conditions.list,
		PendingExecutions:   s.executions.pending.list,
		RunningExecutions:   s.executions.running.list,
		ScheduleCount:       s.executions.running.scheduleCount,
		CompletedExecutions: s.executions.completed.list,
		LastSuccessfulTime:  s.executions.completed.lastSuccessfulTime,
		Schedule:            s.timetable.observed,
		LastScheduleTime:    s.timetable.cursor.last,
		NextScheduleTime:    s.timetable.next,
		SkippedCount:        s.skippedCount,
	}
}

// metaTime returns a time as a status has it.
func metaTime(t time.Time) *metav1.Time {
	w := metav1.NewTime(t)
	return &w
}
