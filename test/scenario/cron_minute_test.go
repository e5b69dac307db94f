package scenario_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// cronMinuteScenarios wait for the next full minute, as a schedule does.
var cronMinuteScenarios = []scenario{
	{
		name: "a schedule of every minute starts a run at the next full minute",
		play: atTheNextMinute(schedule("* * * * *")),
	},
	{
		name: "a schedule of every minute in a time zone starts a run at the next full minute",
		play: atTheNextMinute(schedule("* * * * *"), zone("America/St_Johns")),
	},
	{
		name: "a starting deadline of ten seconds is enough for a run on time",
		play: atTheNextMinute(schedule("* * * * *"), startsWithin(10)),
	},
	{
		name: "a schedule of every five hours and a minute, changed to every minute, starts a run at the next",
		play: func(s *scene) {
			s.patience += time.Minute
			c := s.createCron(schedule("@every 5h1m"), going)
			c.stays(lists(), neverScheduled)
			c.update(schedule("* * * * *"))
			c.onTime(c.firstJob())
		},
	},
	{
		name:     "@every counts from the creation",
		differs:  "upstream names Jobs by minutes, so that a shorter period has one run in each; Stint names those that are not due at a full minute by seconds",
		upstream: func(s *scene) { everyFiftySeconds(s, func(at time.Time) int64 { return at.Unix() / 60 }) },
		play:     func(s *scene) { everyFiftySeconds(s, timeInName) },
	},
}

// timeInName is the number that ends the name of the Job of a time.
func timeInName(at time.Time) int64 {
	if at.Unix()%60 == 0 {
		return at.Unix() / 60
	}
	return at.Unix()
}

func everyFiftySeconds(s *scene, number func(time.Time) int64) {
	s.Helper()
	s.patience += time.Minute
	c := s.createCron(schedule("@every 50s"), going)
	due := c.now().CreationTimestamp.Add(50 * time.Second)
	j := c.jobNamed(fmt.Sprintf("%s-%d", c.name, number(due)))
	c.becomes(lists(j), lastScheduled(due))
	s.same("before its time", false, j.now().CreationTimestamp.Time.Before(due))
	c.update(paused)
}

// atTheNextMinute tells that a CronJob starts its run not before the minute is full.
func atTheNextMinute(options ...func(*batchv1.CronJob)) func(*scene) {
	return func(s *scene) {
		s.patience += time.Minute
		c := s.createCron(changing(options...), going)
		s.same("made before the full minute", false, c.onTime(c.firstJob()).Before(c.now().CreationTimestamp.Time))
	}
}

// firstJob waits for the CronJob's first Job, and suspends it.
func (c *cron) firstJob() (j *job) {
	c.Helper()
	c.eventually(func(h *history) string {
		list := h.jobsOf(c.uid)
		if len(list) == 0 {
			return "a Job of " + c.name
		}
		j = c.handle(list[0])
		return ""
	})
	c.becomes(lists(j)) // upstream never lists it if the CronJob changes before
	c.update(paused)
	return j
}

// onTime tells that a Job is that of a full minute, and was made then or after. It returns the minute.
func (c *cron) onTime(j *job) time.Time {
	c.Helper()
	at := j.now().CreationTimestamp.Time.Truncate(time.Minute)
	c.same("name", c.jobName(at), j.name)
	mark, err := time.Parse(time.RFC3339, j.now().Annotations[batchv1.CronJobScheduledTimestampAnnotation])
	c.must(err)
	c.same("mark", at.UTC(), mark.UTC())
	c.becomes(lists(j), lastScheduled(at))
	return at
}
