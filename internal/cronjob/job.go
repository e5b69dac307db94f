package cronjob

import (
	"fmt"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/schedule"
)

// Kind is the GroupVersionKind of CronJobs.
var Kind = batchv1.SchemeGroupVersion.WithKind("CronJob")

// newJob builds the Job of a due time.
func newJob(cronJob *batchv1.CronJob, s schedule.Schedule, due time.Time, zone *time.Location) *batchv1.Job {
	template := cronJob.Spec.JobTemplate.DeepCopy()
	annotations := maps.Clone(template.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[batchv1.CronJobScheduledTimestampAnnotation] = due.In(zone).Format(time.RFC3339)
	name := minuteName(cronJob, due)
	if next, ok := s.Next(due); ok && next.Sub(due) < time.Minute && due.Unix()%60 != 0 {
		name = secondName(cronJob, due)
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cronJob.Namespace, Name: name, Labels: template.Labels, Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cronJob, Kind)},
		},
		Spec: template.Spec,
	}
}

func minuteName(cronJob *batchv1.CronJob, due time.Time) string {
	return fmt.Sprintf("%s-%d", cronJob.Name, due.Unix()/60)
}

// secondName is used for due times that share a minute with another one.
func secondName(cronJob *batchv1.CronJob, due time.Time) string {
	return fmt.Sprintf("%s-%d", cronJob.Name, due.Unix())
}

// dueTime returns the due time for which the controller created a Job. It is not ok for any other Job.
func dueTime(cronJob *batchv1.CronJob, job *batchv1.Job) (time.Time, bool) {
	due, err := time.Parse(time.RFC3339, job.Annotations[batchv1.CronJobScheduledTimestampAnnotation])
	if err != nil || job.Name != minuteName(cronJob, due) && job.Name != secondName(cronJob, due) {
		return time.Time{}, false
	}
	return due.UTC(), true
}
