package scenario_test

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// backoffScenarios are about failures: how many a Job may have, and how soon it tries again.
var backoffScenarios = []scenario{
	{
		name: "a Job fails past its backoff limit",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(1)))
			j.active(1).fail(1)
			j.becomes(failed(1), unfinished())
			j.active(1).fail(1)
			j.becomes(failed(2), active(0), failedBecause(batchv1.JobReasonBackoffLimitExceeded),
				says(batchv1.JobFailed, "Job has reached the specified backoff limit"))
			j.ended(2)
			j.tells("SuccessfulCreate", "BackoffLimitExceeded: Job has reached the specified backoff limit")
		},
	},
	{
		name: "with backoffLimit 0 the first failure ends the other pods, which count as failed too",
		play: func(s *scene) {
			j := s.create(aJob(pods(3, 3), backoffLimit(0)))
			j.active(3).run()[:1].fail(1)
			j.becomes(willFailBecause(batchv1.JobReasonBackoffLimitExceeded), active(0), unfinished())
			j.terminating(2).fail(143)
			j.becomes(failed(3), succeeded(0), terminating(0), failedBecause(batchv1.JobReasonBackoffLimitExceeded))
			j.tells("SuccessfulCreate", "SuccessfulDelete", "BackoffLimitExceeded")
		},
	},
	{
		name: "where containers restart in place, their restarts count to the backoff limit",
		play: func(s *scene) {
			j := s.create(aJob(restartsInPlace, backoffLimit(3)))
			worker := j.active(1).run()
			worker.restart(2)
			j.stays(active(1), failed(0), unfinished())
			worker.restart(3)
			j.becomes(active(0), willFailBecause(batchv1.JobReasonBackoffLimitExceeded), unfinished())
			j.terminating(1).fail(143)
			j.becomes(failed(1), failedBecause(batchv1.JobReasonBackoffLimitExceeded))
		},
	},
	{
		name: "the restarts of all running pods count together",
		play: func(s *scene) {
			j := s.create(aJob(restartsInPlace, pods(2, 2), backoffLimit(4)))
			workers := j.active(2).run()
			workers[:1].restart(2)
			workers[1:].restart(1)
			j.stays(active(2), unfinished())
			workers[1:].restart(2)
			j.becomes(willFailBecause(batchv1.JobReasonBackoffLimitExceeded))
			j.terminating(2).fail(143)
			j.becomes(failed(2), failedBecause(batchv1.JobReasonBackoffLimitExceeded))
		},
	},
	{
		name: "with backoffLimit 0 one restart in place fails the Job",
		play: func(s *scene) {
			j := s.create(aJob(restartsInPlace, backoffLimit(0)))
			worker := j.active(1).run()
			j.stays(active(1), ready(1), unfinished())
			worker.restart(1)
			j.becomes(willFailBecause(batchv1.JobReasonBackoffLimitExceeded))
			j.terminating(1).succeed()
			j.becomes(succeeded(0), failed(1), failedBecause(batchv1.JobReasonBackoffLimitExceeded))
		},
	},
	{
		slow: true,
		name: "a failed pod is replaced after the delay, which doubles with every failure in a row",
		play: func(s *scene) {
			j := s.create(aJob())
			last := j.active(1)
			for failures := 1; failures <= 2; failures++ {
				last.fail(1)
				next := j.active(1)
				next.madeAfter(last, s.column.backoff<<(failures-1))
				last = next
			}
			last.succeed()
			j.becomes(failed(2), succeeded(1), complete())
		},
	},
	{
		name: "failures that are long past cause no delay",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(5)))
			for n := range int32(5) {
				j.active(1).failLongAgo(1)
				j.becomes(failed(n + 1))
			}
			j.active(1).succeed()
			j.becomes(failed(5), succeeded(1), complete())
		},
	},
	{
		name: "no delay is longer than ten minutes",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(20)))
			for n := range int32(10) { // the tenth delay would be seventeen minutes, or an hour and more
				j.active(1).failBefore(10*time.Minute, 1)
				j.becomes(failed(n + 1))
			}
			j.active(1).succeed()
			j.becomes(failed(10), succeeded(1), complete())
		},
	},
	{
		name: "the delay starts with the newest failure, whatever the order of the pods",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2)))
			first := j.active(2)
			first[1:].failLongAgo(1)
			first[:1].fail(1)
			j.becomes(failed(2))
			// Where the failures are not seen together, the first may have been followed by a pod already.
			j.active(2).newest().madeAfter(first[:1], 2*s.column.backoff)
		},
	},
	{
		name: "a failure in the second of a success causes no delay",
		play: func(s *scene) {
			j := s.create(aJob(pods(4, 3)))
			three := j.active(3)
			j.becomes(active(3))
			s.stopController()
			// A delay that began at this time would not be over before the scenario times out.
			then := time.Now().Add(time.Hour)
			three[:2].exitAt(then, 1)
			three[2:].exitAt(then, 0)
			s.startController()
			j.becomes(failed(2), succeeded(1), active(3))
			j.active(3)
		},
		restarts: true,
	},
	{
		name: "a failure after the success, in the same sync, causes a delay",
		play: func(s *scene) {
			j := s.create(aJob(pods(4, 3)))
			three := j.active(3)
			j.becomes(active(3))
			s.stopController()
			then := time.Now().Add(time.Hour)
			three[:2].exitAt(then.Add(time.Second), 1)
			three[2:].exitAt(then, 0)
			s.startController()
			j.becomes(failed(2), succeeded(1))
			j.stays(failed(2), succeeded(1), active(0))
		},
		restarts: true,
		differs:  "the delay survives the restarts of other scenarios; upstream forgets it when it is restarted",
	},
	{
		name: "a success in between starts the delays anew",
		play: func(s *scene) {
			j := s.create(aJob(pods(3, 2)))
			j.active(2)[:1].failBefore(time.Minute, 1)
			j.becomes(failed(1), active(2))
			j.active(2)[:1].failBefore(59*time.Second, 1)
			j.becomes(failed(2), active(2))
			j.active(2)[:1].succeedBefore(30 * time.Second)
			j.becomes(succeeded(1), active(2))
			last := j.active(2)
			last[:1].fail(1)
			j.becomes(failed(3))
			next := j.active(2)
			next.without(last[1:]).madeAfter(last[:1], s.column.backoff)
			next.succeed()
			j.becomes(succeeded(3), failed(3), complete())
		},
	},
	{
		name: "other pods run on while a failed one waits to be replaced",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2)))
			both := j.active(2).run()
			both[:1].fail(1)
			j.becomes(failed(1), ready(1))
			both[1:].succeed()
			j.becomes(failed(1), succeeded(1))
			j.active(1).succeed()
			j.becomes(succeeded(2), failed(1), complete())
		},
	},
	{
		name:     "a restart of the controller does not cut a delay short",
		restarts: true,
		differs:  "the delay survives a restart, as it is worked out from the pods; upstream keeps it in memory and forgets it",
		play: func(s *scene) {
			j := s.create(aJob())
			last := j.active(1)
			last.fail(1)
			j.becomes(failed(1))
			s.restartController()
			j.active(1).madeAfter(last, s.column.backoff)
		},
		upstream: func(s *scene) {
			j := s.create(aJob())
			j.active(1).fail(1)
			j.becomes(failed(1))
			s.restartController()
			j.active(1).succeed()
			j.becomes(failed(1), succeeded(1), complete())
		},
	},
}
