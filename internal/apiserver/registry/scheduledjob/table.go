package scheduledjob

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

func columns() []metav1.TableColumnDefinition {
	return append([]metav1.TableColumnDefinition{
		kinds.NameColumn,
		{Name: "Schedule", Type: "string", Description: "When runs start; none: on demand only."},
		{Name: "Suspend", Type: "boolean", Description: "Whether due times pass without a run."},
		{Name: "Pending", Type: "integer", Description: "How many runs wait."},
		{Name: "Running", Type: "integer", Description: "How many runs have a Job that has not ended."},
		{Name: "Last Schedule", Type: "string", Description: "How long ago the schedule was last due."},
		{Name: "Last Result", Type: "string", Description: "How the latest run ended, and whether the schedule is blocked because of it."},
		{Name: "Next", Type: "string", Description: "In how long the schedule is due next."},
		kinds.AgeColumn,
	}, kinds.TemplateColumns("")[:2]...)
}

func row(scheduledJob *stintv1.ScheduledJob, now time.Time) []any {
	spec, status := &scheduledJob.Spec, &scheduledJob.Status
	timeSpec, containers, images := "<none>", "<none>", "<none>"
	if spec.Schedule != nil {
		timeSpec = spec.Schedule.TimeSpec
	}
	if spec.Template != nil {
		containers, images = pod.ContainersAndImages(spec.Template.Spec.Containers)
	} else if spec.TemplateRef != nil {
		containers = "podtemplate/" + spec.TemplateRef.Name
	}
	return []any{
		scheduledJob.Name,
		timeSpec,
		kinds.SuspendCell(spec.Suspend),
		int64(len(status.PendingExecutions)),
		int64(len(status.RunningExecutions)),
		ageOrNone(status.LastScheduleTime, now),
		lastResult(status),
		nextOf(scheduledJob, now),
		kinds.Age(scheduledJob.CreationTimestamp, now),
		containers,
		images,
	}
}

// nextOf returns the time until the next run. It returns <none> while the schedule is suspended or blocked.
func nextOf(scheduledJob *stintv1.ScheduledJob, now time.Time) string {
	if ptr.Deref(scheduledJob.Spec.Suspend, false) || meta.IsStatusConditionTrue(scheduledJob.Status.Conditions, stintv1.ConditionBlocked) {
		return "<none>"
	}
	return untilOrNone(scheduledJob.Status.NextScheduleTime, now)
}

func lastResult(status *stintv1.ScheduledJobStatus) string {
	if meta.IsStatusConditionTrue(status.Conditions, stintv1.ConditionBlocked) {
		return "Blocked"
	}
	n := len(status.CompletedExecutions)
	switch {
	case n == 0:
		return "<none>"
	case status.CompletedExecutions[n-1].Success == nil:
		return "Unknown"
	case *status.CompletedExecutions[n-1].Success:
		return "Succeeded"
	}
	return "Failed"
}

func ageOrNone(t *metav1.Time, now time.Time) string {
	if t == nil {
		return "<none>"
	}
	return kinds.Age(*t, now)
}

// untilOrNone returns the time until t in the form that kubectl prints, or 0s if t is in the past.
func untilOrNone(t *metav1.Time, now time.Time) string {
	if t == nil {
		return "<none>"
	}
	return duration.HumanDuration(max(t.Sub(now), 0))
}
