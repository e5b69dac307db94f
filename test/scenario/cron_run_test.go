package scenario_test

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// cronRunScenarios are about the runs of a CronJob: when they start, and what their Jobs are like.
var cronRunScenarios = []scenario{
	{
		name: "a run is a Job of the template, named and marked by its time, that the CronJob controls",
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron(jobsThat(pods(3, 2), labelled("team", "a"), annotated("note", "b")))
			j := c.starts(at).now()
			s.same("name", fmt.Sprintf("cron-%d", at.Unix()/60), j.Name)
			s.same("labels", map[string]string{"team": "a"}, j.Labels)
			s.same("annotations", map[string]string{"note": "b", batchv1.CronJobScheduledTimestampAnnotation: at.Format(time.RFC3339)}, j.Annotations)
			s.same("owners", []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "CronJob", Name: "cron", UID: c.uid, Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
			}}, j.OwnerReferences)
			s.same("completions", int32(3), *j.Spec.Completions)
			s.same("parallelism", int32(2), *j.Spec.Parallelism)
			s.same("backoffLimit", int32(0), *j.Spec.BackoffLimit)
		},
	},
	{
		name: "a run is listed while it is active, and its success is recorded",
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron()
			j := c.starts(at)
			c.becomes(lists(j), lastScheduled(at), neverSucceeded)
			s.same("reference", []any{"Job", "batch/v1", s.namespace, j.name}, refOf(c))
			j.active(1).succeed()
			c.becomes(lists(), lastScheduled(at), lastSucceeded(j))
			c.has(j)
			c.says("Normal SuccessfulCreate: Created job "+j.name, "Normal SawCompletedJob: Saw completed job: "+j.name+", condition: Complete")
		},
	},
	{
		name: "a run that fails is recorded, but not as a success",
		play: func(s *scene) {
			c := s.createCron()
			j := c.starts(minutesAgo(10))
			j.active(1).fail(1)
			c.becomes(lists(), neverSucceeded)
			c.has(j)
			c.says("Normal SuccessfulCreate: Created job "+j.name, "Normal SawCompletedJob: Saw completed job: "+j.name+", condition: Failed")
		},
	},
	{
		name: "the schedule is read in its time zone, which the mark on the Job shows",
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron(zone("Asia/Kathmandu"))
			j := c.starts(at).now()
			place, err := time.LoadLocation("Asia/Kathmandu")
			s.must(err)
			s.same("mark", at.In(place).Format(time.RFC3339), j.Annotations[batchv1.CronJobScheduledTimestampAnnotation])
			s.same("offset", true, strings.HasSuffix(j.Annotations[batchv1.CronJobScheduledTimestampAnnotation], "+05:45"))
		},
	},
	{
		name: "of several times that were missed only the latest runs",
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron(daily(at))
			c.lastRan(at.AddDate(0, 0, -5))
			c.update(going)
			j := c.jobOf(at)
			c.stays(lists(j), lastScheduled(at))
			c.has(j)
			c.says("Normal SuccessfulCreate: Created job " + j.name)
		},
	},
	{
		name: "of more than a hundred times that were missed the latest runs, with a warning",
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron(daily(at))
			c.lastRan(at.AddDate(0, 0, -200))
			c.update(going)
			j := c.jobOf(at)
			c.stays(lists(j), lastScheduled(at))
			c.has(j)
			c.tellsOf(tooManyMissed)
			c.tellsOf("SuccessfulCreate: Created job " + j.name)
		},
	},
	{
		name: "times that were missed before the starting deadline are no reason for a warning",
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron(daily(at), startsWithin(3600))
			c.lastRan(at.AddDate(0, 0, -200))
			c.update(going)
			j := c.jobOf(at)
			c.stays(lists(j), lastScheduled(at))
			c.says("Normal SuccessfulCreate: Created job " + j.name)
		},
	},
	{
		name: "a run that can start within its deadline does",
		play: func(s *scene) {
			c := s.createCron(startsWithin(3600))
			j := c.runs(minutesAgo(10))
			c.has(j)
		},
	},
	{
		name: "a run whose deadline has passed never starts",
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron(startsWithin(60))
			c.due(at)
			c.stays(lists(), lastScheduled(at.Add(-12*time.Hour)))
			c.has()
			c.update(startsWithin(3600))
			c.has(c.jobOf(at))
		},
	},
	{
		name: "a suspended CronJob starts nothing; resumed, it starts the latest run that it missed",
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron(daily(at))
			c.lastRan(at.AddDate(0, 0, -3))
			c.stays(lists(), lastScheduled(at.AddDate(0, 0, -3)))
			c.has()
			c.update(going)
			c.has(c.jobOf(at))
		},
	},
	{
		name: "suspension leaves the active run alone, and its end is recorded",
		play: func(s *scene) {
			c := s.createCron()
			j := c.starts(minutesAgo(10))
			c.update(paused)
			c.stays(lists(j))
			j.active(1).succeed()
			c.becomes(lists(), lastSucceeded(j))
			c.tells("SuccessfulCreate", "SawCompletedJob")
		},
	},
	{
		name: "a CronJob whose last run is in the future waits for the first time after that", differs: "upstream does not say why nothing runs",
		upstream: func(s *scene) { lastRanAhead(s).says() },
		play: func(s *scene) {
			lastRanAhead(s).tells("LastScheduleInFuture")
		},
	},
	{
		name: "a new CronJob starts no run for a time before its creation",
		play: func(s *scene) {
			c := s.createCron(daily(minutesAgo(10)), going)
			c.stays(lists(), neverScheduled)
			c.has()
			c.says()
		},
	},
	{
		name: "a change of the template holds for the next run",
		play: func(s *scene) {
			c := s.createCron(jobsThat(labelled("version", "1")))
			first := c.starts(minutesAgo(20))
			c.update(jobsThat(labelled("version", "2"), pods(2, 2)))
			second := c.starts(minutesAgo(10))
			c.becomes(lists(first, second))
			s.same("first", "1", first.now().Labels["version"])
			s.same("second", "2", second.now().Labels["version"])
			first.active(1)
			second.active(2)
		},
	},
	{
		name: "a run whose template is suspended is active until it is resumed and done",
		play: func(s *scene) {
			c := s.createCron(jobsThat(suspended))
			j := c.starts(minutesAgo(10))
			j.stays(exactly("Suspended(JobSuspended) unstarted"))
			c.stays(lists(j))
			j.resume()
			j.active(1).succeed()
			c.becomes(lists(), lastSucceeded(j))
		},
	},
	{
		name: "the longest name that a CronJob may have leaves room for the time",
		play: func(s *scene) {
			c := s.createCron(func(c *batchv1.CronJob) { c.Name = strings.Repeat("c", 52) })
			j := c.runs(minutesAgo(10))
			c.has(j)
		},
	},
	{
		name: "many CronJobs become due at the same time, and each has its own run",
		play: func(s *scene) {
			at := minutesAgo(10)
			var all []*cron
			for i := range 15 {
				c := s.createCron(func(c *batchv1.CronJob) { c.Name = fmt.Sprintf("cron-%c", 'a'+i) })
				all = append(all, c)
				c.due(at)
			}
			for _, c := range all {
				j := c.jobOf(at)
				c.becomes(lists(j))
				c.has(j)
			}
		},
	},
}

// lastRanAhead returns a CronJob whose last run is in the future, as if the clock had been set back by two days.
func lastRanAhead(s *scene) *cron {
	at, ahead := minutesAgo(10), minutesAgo(-2*24*60)
	c := s.createCron(daily(at))
	c.lastRan(ahead)
	c.update(going)
	c.stays(lists(), lastScheduled(ahead))
	c.has()
	return c
}

const tooManyMissed = "TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"

func labelled(key, value string) func(*batchv1.Job) {
	return func(j *batchv1.Job) { metav1.SetMetaDataLabel(&j.ObjectMeta, key, value) }
}

func annotated(key, value string) func(*batchv1.Job) {
	return func(j *batchv1.Job) { metav1.SetMetaDataAnnotation(&j.ObjectMeta, key, value) }
}

func neverScheduled(c *batchv1.CronJob) string {
	if c.Status.LastScheduleTime != nil {
		return "no lastScheduleTime"
	}
	return ""
}

// refOf returns the kind, version, namespace and name in the CronJob's only reference.
func refOf(c *cron) []any {
	c.Helper()
	var ref corev1.ObjectReference
	c.becomes(func(o *batchv1.CronJob) string {
		if len(o.Status.Active) != 1 {
			return "one active Job"
		}
		ref = o.Status.Active[0]
		return ""
	})
	return []any{ref.Kind, ref.APIVersion, ref.Namespace, ref.Name}
}
