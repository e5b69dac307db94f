package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// aCronJob is a CronJob named "cron" whose Jobs have one pod and one try; options make it another.
func aCronJob(options ...func(*batchv1.CronJob)) *batchv1.CronJob {
	c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "cron"}}
	c.Spec.JobTemplate.Spec = aJob(backoffLimit(0)).Spec
	daily(minutesAgo(1))(c)
	paused(c)
	for _, option := range options {
		option(c)
	}
	return c
}

// changing combines several changes.
func changing[T any](changes ...func(T)) func(T) {
	return func(o T) {
		for _, change := range changes {
			change(o)
		}
	}
}

// daily sets a schedule of one run every day at this time, in the zone of the CronJob.
func daily(at time.Time) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) {
		zone, err := time.LoadLocation(ptr.Deref(c.Spec.TimeZone, "UTC"))
		if err != nil {
			panic(err)
		}
		at := at.In(zone)
		c.Spec.Schedule = fmt.Sprintf("%d %d * * *", at.Minute(), at.Hour())
	}
}

func schedule(text string) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) { c.Spec.Schedule = text }
}

func zone(name string) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) { c.Spec.TimeZone = &name }
}

func paused(c *batchv1.CronJob) { c.Spec.Suspend = ptr.To(true) }

func going(c *batchv1.CronJob) { c.Spec.Suspend = ptr.To(false) }

func policy(p batchv1.ConcurrencyPolicy) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) { c.Spec.ConcurrencyPolicy = p }
}

func startsWithin(seconds int64) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) { c.Spec.StartingDeadlineSeconds = &seconds }
}

func keeps(successful, failed int32) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) {
		c.Spec.SuccessfulJobsHistoryLimit, c.Spec.FailedJobsHistoryLimit = &successful, &failed
	}
}

// jobsThat changes the template of the Jobs.
func jobsThat(options ...func(*batchv1.Job)) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) {
		j := &batchv1.Job{ObjectMeta: c.Spec.JobTemplate.ObjectMeta, Spec: c.Spec.JobTemplate.Spec}
		changing(options...)(j)
		c.Spec.JobTemplate.ObjectMeta, c.Spec.JobTemplate.Spec = j.ObjectMeta, j.Spec
	}
}

// lists checks that exactly these Jobs are active, in this order.
func lists(jobs ...*job) func(*batchv1.CronJob) string {
	return func(c *batchv1.CronJob) string {
		var got, want []string
		for _, ref := range c.Status.Active {
			got = append(got, string(ref.UID))
		}
		for _, j := range jobs {
			want = append(want, string(j.uid))
		}
		if slices.Equal(got, want) {
			return ""
		}
		return fmt.Sprintf("the active Jobs are not %v", namesOf(jobs))
	}
}

func lastScheduled(at time.Time) func(*batchv1.CronJob) string {
	return func(c *batchv1.CronJob) string {
		if last := c.Status.LastScheduleTime; last == nil || !last.Time.Equal(at) {
			return fmt.Sprintf("lastScheduleTime %s", at.UTC())
		}
		return ""
	}
}

// neverSucceeded checks that there is no lastSuccessfulTime.
func neverSucceeded(c *batchv1.CronJob) string {
	if c.Status.LastSuccessfulTime != nil {
		return "no lastSuccessfulTime"
	}
	return ""
}

// lastSucceeded checks that lastSuccessfulTime is the end of this Job.
func lastSucceeded(j *job) func(*batchv1.CronJob) string {
	end := j.becomes(complete()).Status.CompletionTime
	return func(c *batchv1.CronJob) string {
		if !end.Equal(c.Status.LastSuccessfulTime) {
			return fmt.Sprintf("lastSuccessfulTime %s", end.UTC())
		}
		return ""
	}
}

func describeCron(c *batchv1.CronJob) string {
	text := []string{fmt.Sprintf("schedule=%q suspend=%t", c.Spec.Schedule, ptr.Deref(c.Spec.Suspend, false))}
	for _, ref := range c.Status.Active {
		text = append(text, "active="+ref.Name)
	}
	if last := c.Status.LastScheduleTime; last != nil {
		text = append(text, "last="+last.UTC().Format(time.RFC3339))
	}
	if last := c.Status.LastSuccessfulTime; last != nil {
		text = append(text, "succeeded="+last.UTC().Format(time.RFC3339))
	}
	if c.DeletionTimestamp != nil {
		text = append(text, "deleted")
	}
	return strings.Join(text, " ")
}
