package scenario_test

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const alreadyActive = "JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid"

// cronPolicyScenarios are about a CronJob that becomes due while runs are active, and about which ended runs are kept.
var cronPolicyScenarios = []scenario{
	{
		name: "Allow starts runs beside each other",
		play: func(s *scene) {
			c := s.createCron(policy(batchv1.AllowConcurrent))
			first, second, third := c.starts(minutesAgo(30)), c.starts(minutesAgo(20)), c.starts(minutesAgo(10))
			c.becomes(lists(first, second, third))
			second.active(1).succeed()
			c.becomes(lists(first, third), lastSucceeded(second))
			first.active(1).fail(1)
			c.becomes(lists(third), lastSucceeded(second))
			third.active(1).succeed()
			c.becomes(lists(), lastSucceeded(third))
		},
	},
	{
		name: "Forbid starts no run beside another, but when that has ended",
		play: func(s *scene) {
			first, then := minutesAgo(20), minutesAgo(10)
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			j := c.starts(first)
			c.due(then)
			c.tellsOf(alreadyActive)
			c.stays(lists(j), lastScheduled(first))
			c.has(j)
			j.active(1).succeed()
			next := c.jobOf(then)
			c.becomes(lists(next))
			c.has(j, next)
		},
	},
	{
		name: "under Forbid a run waits no longer than its deadline",
		play: func(s *scene) {
			first, then := minutesAgo(20), minutesAgo(10)
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			j := c.starts(first)
			c.due(then)
			c.tellsOf(alreadyActive)
			c.update(startsWithin(60))
			j.active(1).succeed()
			c.stays(lastScheduled(first))
			c.has(j)
		},
	},
	{
		name: "under Forbid only the latest of the times that passed meanwhile is run",
		play: func(s *scene) {
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			first := c.starts(minutesAgo(30))
			c.due(minutesAgo(20))
			c.tellsOf(alreadyActive)
			latest := minutesAgo(10)
			c.due(latest)
			c.stays(lists(first))
			first.active(1).fail(1)
			last := c.jobOf(latest)
			c.stays(lists(last))
			c.has(first, last)
		},
	},
	{
		name: "a change to Forbid holds back the next run while several are active",
		play: func(s *scene) {
			c := s.createCron()
			first, second := c.starts(minutesAgo(30)), c.starts(minutesAgo(20))
			c.becomes(lists(first, second))
			c.update(policy(batchv1.ForbidConcurrent))
			then := minutesAgo(10)
			c.due(then)
			c.tellsOf(alreadyActive)
			first.active(1).succeed()
			c.stays(lists(second))
			c.has(first, second)
			second.active(1).succeed()
			third := c.jobOf(then)
			c.becomes(lists(third))
		},
	},
	{
		name: "Replace ends the active run and starts the next",
		play: func(s *scene) {
			c, told := replaced(s)
			c.says(told...)
		},
		differs: "a run that was replaced is never missed; upstream misses it when its cache does not show yet that it is no longer listed",
		upstream: func(s *scene) {
			c, told := replaced(s)
			for _, event := range told {
				c.tellsOf(strings.TrimPrefix(event, "Normal "))
			}
		},
	},
	{
		name: "Replace leaves runs alone that have ended",
		play: func(s *scene) {
			c := s.createCron(policy(batchv1.ReplaceConcurrent))
			old := c.runs(minutesAgo(20))
			fresh := c.starts(minutesAgo(10))
			c.stays(lists(fresh))
			c.has(old, fresh)
		},
	},
	{
		name: "Replace replaces all runs that are active",
		play: func(s *scene) {
			c := s.createCron()
			first, second := c.starts(minutesAgo(30)), c.starts(minutesAgo(20))
			c.becomes(lists(first, second))
			c.update(policy(batchv1.ReplaceConcurrent))
			third := c.starts(minutesAgo(10))
			first.gone()
			second.gone()
			c.becomes(lists(third))
			c.has(third)
		},
	},
	{
		name: "by default three successful runs and one that failed are kept, the latest",
		play: func(s *scene) {
			c := s.createCron()
			c.runs(minutesAgo(90))
			c.fails(minutesAgo(80))
			second := c.runs(minutesAgo(70))
			third := c.runs(minutesAgo(60))
			failed := c.fails(minutesAgo(50))
			fourth := c.runs(minutesAgo(40))
			c.has(second, third, failed, fourth)
			c.becomes(lists(), lastSucceeded(fourth))
		},
	},
	{
		name: "of runs that are not to be kept, success is recorded all the same",
		play: func(s *scene) {
			c := s.createCron(keeps(0, 0))
			j := c.starts(minutesAgo(20))
			j.active(1).succeed()
			j.gone()
			c.becomes(lists(), succeededOnce)
			c.starts(minutesAgo(10)).active(1).fail(1)
			c.has()
			c.becomes(lists(), succeededOnce)
		},
	},
	{
		name: "lower limits have the oldest runs deleted at once",
		play: func(s *scene) {
			c := s.createCron(keeps(3, 3))
			first, second := c.runs(minutesAgo(40)), c.runs(minutesAgo(30))
			third, fourth := c.fails(minutesAgo(20)), c.fails(minutesAgo(10))
			c.has(first, second, third, fourth)
			c.update(keeps(1, 1))
			c.has(second, fourth)
			c.tellsOf("SuccessfulDelete: Deleted job " + first.name)
			c.tellsOf("SuccessfulDelete: Deleted job " + third.name)
			c.update(keeps(1, 0))
			c.has(second)
		},
	},
	{
		name: "an active run is not history, however many there are",
		play: func(s *scene) {
			c := s.createCron(keeps(0, 0))
			first, second := c.starts(minutesAgo(20)), c.starts(minutesAgo(10))
			c.stays(lists(first, second))
			c.has(first, second)
		},
	},
}

func isDeleted(p *corev1.Pod) bool { return p.DeletionTimestamp != nil }

// succeededOnce checks that there is a lastSuccessfulTime.
func succeededOnce(c *batchv1.CronJob) string {
	if c.Status.LastSuccessfulTime == nil {
		return "a lastSuccessfulTime"
	}
	return ""
}

// replaced lets one run replace another. It returns the CronJob and the events that it must have.
func replaced(s *scene) (c *cron, told []string) {
	c = s.createCron(policy(batchv1.ReplaceConcurrent))
	old := c.starts(minutesAgo(20))
	running := old.active(1).run()
	fresh := c.starts(minutesAgo(10))
	old.gone()
	c.becomes(lists(fresh))
	c.has(fresh)
	running.become("deleted", isDeleted)
	running.fail(143)
	running.gone()
	fresh.active(1).succeed()
	c.becomes(lists(), lastSucceeded(fresh))
	return c, []string{
		"Normal SuccessfulCreate: Created job " + old.name,
		"Normal SuccessfulDelete: Deleted job " + old.name,
		"Normal SuccessfulCreate: Created job " + fresh.name,
		"Normal SawCompletedJob: Saw completed job: " + fresh.name + ", condition: Complete",
	}
}
