package wrappers

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CronJobWrapper builds a CronJob.
type CronJobWrapper struct {
	metadata[*CronJobWrapper]
	podSpec[*CronJobWrapper]
	cronJob *batchv1.CronJob
}

// MakeCronJob begins a CronJob whose Jobs have one container, which is not restarted.
func MakeCronJob(name, schedule string) *CronJobWrapper {
	w := &CronJobWrapper{cronJob: &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: name}}}
	w.cronJob.Spec.Schedule = schedule
	pods := &w.cronJob.Spec.JobTemplate.Spec.Template.Spec
	*pods = runOnce()
	w.metadata = metadata[*CronJobWrapper]{w, &w.cronJob.ObjectMeta}
	w.podSpec = podSpec[*CronJobWrapper]{w, pods}
	return w
}

// Obj is the CronJob.
func (w *CronJobWrapper) Obj() *batchv1.CronJob { return w.cronJob }

// With makes changes for which there is no method.
func (w *CronJobWrapper) With(changes ...func(*batchv1.CronJob)) *CronJobWrapper {
	for _, change := range changes {
		change(w.cronJob)
	}
	return w
}

// ConcurrencyPolicy sets spec.concurrencyPolicy.
func (w *CronJobWrapper) ConcurrencyPolicy(policy batchv1.ConcurrencyPolicy) *CronJobWrapper {
	w.cronJob.Spec.ConcurrencyPolicy = policy
	return w
}

// Suspend sets spec.suspend.
func (w *CronJobWrapper) Suspend(suspend bool) *CronJobWrapper {
	w.cronJob.Spec.Suspend = &suspend
	return w
}

// TimeZone sets spec.timeZone.
func (w *CronJobWrapper) TimeZone(zone string) *CronJobWrapper {
	w.cronJob.Spec.TimeZone = &zone
	return w
}

// StartingDeadlineSeconds sets spec.startingDeadlineSeconds.
func (w *CronJobWrapper) StartingDeadlineSeconds(seconds int64) *CronJobWrapper {
	w.cronJob.Spec.StartingDeadlineSeconds = &seconds
	return w
}

// HistoryLimits sets how many Jobs that succeeded and how many that failed are kept.
func (w *CronJobWrapper) HistoryLimits(successful, failed int32) *CronJobWrapper {
	w.cronJob.Spec.SuccessfulJobsHistoryLimit, w.cronJob.Spec.FailedJobsHistoryLimit = &successful, &failed
	return w
}

// JobTemplate sets spec.jobTemplate to the metadata and the spec of a Job.
func (w *CronJobWrapper) JobTemplate(job *batchv1.Job) *CronJobWrapper {
	w.cronJob.Spec.JobTemplate = batchv1.JobTemplateSpec{ObjectMeta: job.ObjectMeta, Spec: job.Spec}
	return w
}
