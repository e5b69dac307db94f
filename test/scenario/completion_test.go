package scenario_test

import (
	batchv1 "k8s.io/api/batch/v1"
)

// completionScenarios are about which pods a Job makes and when it is complete.
var completionScenarios = []scenario{
	{
		name: "a Job of one pod completes when the pod succeeds",
		play: func(s *scene) {
			j := s.create(aJob())
			pod := j.active(1)
			j.becomes(active(1), ready(0), terminating(0), succeeded(0), failed(0), started())
			pod.run()
			j.becomes(active(1), ready(1))
			pod.succeed()
			j.becomes(active(0), ready(0), terminating(0), succeeded(1), failed(0), completeBecause(batchv1.JobReasonCompletionsReached))
			j.ended(1)
			j.tells("SuccessfulCreate", "Completed: Job completed")
		},
	},
	{
		name: "a Job with fixed completions keeps parallelism pods until fewer are missing",
		play: func(s *scene) {
			j := s.create(aJob(pods(5, 3)))
			j.active(3)[:1].succeed()
			j.becomes(succeeded(1), active(3))
			j.active(3)[:2].succeed()
			j.becomes(succeeded(3), active(2))
			j.active(2).succeed()
			j.becomes(succeeded(5), failed(0), active(0), complete())
			j.ended(5)
		},
	},
	{
		name: "a work queue takes no new pods after the first success, and completes when the rest have ended",
		play: func(s *scene) {
			j := s.create(aJob(workers(3)))
			j.active(3).run()[:1].succeed()
			j.becomes(succeeded(1), active(2), unfinished())
			j.active(2)[:1].fail(1)
			j.stays(succeeded(1), failed(1), active(1), unfinished())
			j.active(1).succeed()
			j.becomes(succeeded(2), failed(1), active(0), complete())
			j.tells("SuccessfulCreate", "Completed")
		},
	},
	{
		name: "an indexed Job completes every index once, lowest first",
		play: func(s *scene) {
			j := s.create(aJob(indexed(4, 2)))
			first := j.active(2)
			first.haveIndexes(0, 1)
			first[1:].succeed()
			j.becomes(completedIndexes("1"), succeeded(1))
			j.active(2).haveIndexes(0, 2)
			j.active(2).succeed()
			j.becomes(completedIndexes("0-2"))
			j.active(1).haveIndexes(3)
			j.active(1).succeed()
			j.becomes(completedIndexes("0-3"), succeeded(4), complete())
		},
	},
}
