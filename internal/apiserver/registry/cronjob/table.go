package cronjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

func columns() []metav1.TableColumnDefinition {
	spec, status := batchv1.CronJobSpec{}.SwaggerDoc(), batchv1.CronJobStatus{}.SwaggerDoc()
	return append([]metav1.TableColumnDefinition{
		kinds.NameColumn,
		{Name: "Schedule", Type: "string", Description: spec["schedule"]},
		{Name: "Timezone", Type: "string", Description: spec["timeZone"]},
		{Name: "Suspend", Type: "boolean", Description: spec["suspend"]},
		{Name: "Active", Type: "integer", Description: status["active"]},
		{Name: "Last Schedule", Type: "string", Description: status["lastScheduleTime"]},
		kinds.AgeColumn,
	}, kinds.TemplateColumns(batchv1.JobSpec{}.SwaggerDoc()["selector"])...)
}

func row(cronJob *batchv1.CronJob, now time.Time) []any {
	spec := &cronJob.Spec
	lastSchedule := "<none>"
	if t := cronJob.Status.LastScheduleTime; t != nil {
		lastSchedule = kinds.Age(*t, now)
	}
	names, images := pod.ContainersAndImages(spec.JobTemplate.Spec.Template.Spec.Containers)
	return []any{
		cronJob.Name,
		spec.Schedule,
		ptr.Deref(spec.TimeZone, "<none>"),
		kinds.SuspendCell(spec.Suspend),
		int64(len(cronJob.Status.Active)),
		lastSchedule,
		kinds.Age(cronJob.CreationTimestamp, now),
		names,
		images,
		metav1.FormatLabelSelector(spec.JobTemplate.Spec.Selector),
	}
}
