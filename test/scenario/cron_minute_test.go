package scenario_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// cronMinuteScenarios wait for the next full minute, as a schedule does. A slow machine may take longer than that, so they
// expect any full minute after the creation; internal/controller/cronjob/model/punctual_test.go expects the very second.
// Their CronJobs have one run at a time, so that the first stays the only one.
var cronMinuteScenarios = []scenario{
	{
		slow: true,
		name: "a schedule of every minute starts a run at the next full minute",
		play: atTheNextMinute(schedule("* * * * *")),
	},
	{
		slow: true,
		name: "a schedule of every minute in a time zone starts a run at the next full minute",
		play: atTheNextMinute(schedule("* * * * *"), zone("America/St_Johns")),
	},
	{
		slow: true,
		name: "a starting deadline of ten seconds is enough for a run on time",
		play: atTheNextMinute(schedule("* * * * *"), startsWithin(10)),
	},
	{
		slow: true,
		name: "a schedule of every five hours and a minute, changed to every minute, starts a run at the next",
		play: func(s *scene) {
			c := s.createCron(schedule("@every 5h1m"), oneRunAtATime, going)
			c.stays(lists(), neverScheduled)
			c.update(schedule("* * * * *"))
			s.same("seconds past the full minute", 0, c.firstRun().Second())
		},
	},
	{
		slow:     true,
		name:     "@every counts from the creation",
		differs:  "upstream names Jobs by minutes, so that a shorter period has one run in each; Stint names those that are not due at a full minute by seconds",
		upstream: func(s *scene) { everyFiftySeconds(s, func(at time.Time) int64 { return at.Unix() / 60 }) },
		play:     func(s *scene) { everyFiftySeconds(s, timeInName) },
	},
}

// timeInName returns the number that ends the name of a time's Job.
func timeInName(at time.Time) int64 {
	if at.Unix()%60 == 0 {
		return at.Unix() / 60
	}
	return at.Unix()
}

func oneRunAtATime(c *batchv1.CronJob) { policy(batchv1.ForbidConcurrent)(c) }

func everyFiftySeconds(s *scene, number func(time.Time) int64) {
	s.Helper()
	c := s.createCron(schedule("@every 50s"), oneRunAtATime, going)
	due, j := c.firstDue()
	since := due.Sub(c.now().CreationTimestamp.Time)
	s.same("seconds between two runs", time.Duration(0), since%(50*time.Second))
	s.same("due after the creation", true, since > 0)
	s.same("name", fmt.Sprintf("%s-%d", c.name, number(due)), j.name)
}

// atTheNextMinute checks that a CronJob starts its first run at a full minute after its creation.
func atTheNextMinute(options ...func(*batchv1.CronJob)) func(*scene) {
	return func(s *scene) {
		c := s.createCron(changing(options...), oneRunAtATime, going)
		at := c.firstRun()
		s.same("seconds past the full minute", 0, at.Second())
		s.same("due before the creation", false, at.Before(c.now().CreationTimestamp.Time))
	}
}

// firstRun waits for the CronJob's first run, whose Job is named after the minute. It returns when the run was due.
func (c *cron) firstRun() time.Time {
	c.Helper()
	due, j := c.firstDue()
	c.same("name", c.jobName(due), j.name)
	return due
}

// firstDue waits for the CronJob's first Job, which was not made before it was due, and suspends the CronJob.
func (c *cron) firstDue() (due time.Time, j *job) {
	c.Helper()
	c.eventually(func(h *history) string {
		list := h.jobsOf(c.uid)
		if len(list) == 0 {
			return "a Job of " + c.name
		}
		j = c.handle(list[0])
		return ""
	})
	due, err := time.Parse(time.RFC3339, j.now().Annotations[batchv1.CronJobScheduledTimestampAnnotation])
	c.must(err)
	c.becomes(lists(j), lastScheduled(due)) // upstream never lists it if the CronJob changes before
	c.update(paused)
	c.same("made before it was due", false, j.now().CreationTimestamp.Time.Before(due))
	return due, j
}
