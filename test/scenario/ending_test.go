package scenario_test

import (
	batchv1 "k8s.io/api/batch/v1"
)

// endingScenarios are about the time between the verdict on a Job and its end.
var endingScenarios = []scenario{
	{
		name: "FailureTarget comes at once, Failed when the last pod has taken its time to end",
		play: func(s *scene) {
			j := s.create(aJob(pods(4, 4), backoffLimit(0)))
			j.active(4).run()[:1].fail(1)
			j.becomes(willFailBecause(batchv1.JobReasonBackoffLimitExceeded), active(0), terminating(3), ready(0))
			slow := j.terminating(3)
			slow[:1].fail(143)
			j.becomes(terminating(2))
			j.stays(unfinished(), terminating(2), is(batchv1.JobFailureTarget, ""))
			slow[1:].fail(143)
			j.becomes(terminating(0), failed(4), failedBecause(batchv1.JobReasonBackoffLimitExceeded))
		},
	},
	{
		name: "a verdict stands, even if the pods succeed on their way out",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2), backoffLimit(0)))
			j.active(2).run()[:1].fail(1)
			j.becomes(willFailBecause(batchv1.JobReasonBackoffLimitExceeded))
			j.terminating(1).succeed()
			j.becomes(failed(2), succeeded(0), failedBecause(batchv1.JobReasonBackoffLimitExceeded), isNot(batchv1.JobSuccessCriteriaMet))
		},
	},
	{
		name: "SuccessCriteriaMet comes at once, Complete when a pod that was deleted has taken its time to end",
		play: func(s *scene) {
			j := s.create(aJob())
			slow := j.active(1).run()
			slow.delete()
			j.becomes(failed(1), terminating(1))
			j.active(1).succeed()
			j.becomes(willComplete(), succeeded(1), active(0), terminating(1), unfinished())
			j.stays(unfinished(), terminating(1))
			slow.fail(143)
			j.becomes(complete(), terminating(0), succeeded(1), failed(1))
		},
	},
	{
		name: "with podReplacementPolicy Failed a pod that is deleted is replaced, and counted, when it has ended",
		play: func(s *scene) {
			j := s.create(aJob(replacesEnded))
			slow := j.active(1).run()
			slow.delete()
			j.becomes(active(0), terminating(1), failed(0))
			j.stays(active(0), terminating(1), failed(0))
			slow.fail(143)
			j.becomes(terminating(0), failed(1))
			j.active(1).succeed()
			j.becomes(complete(), succeeded(1), failed(1))
		},
	},
	{
		name: "with podReplacementPolicy Failed a pod that is deleted and succeeds on its way out is a success",
		play: func(s *scene) {
			j := s.create(aJob(replacesEnded))
			slow := j.active(1).run()
			slow.delete()
			j.becomes(terminating(1))
			slow.succeed()
			j.becomes(complete(), succeeded(1), failed(0))
		},
	},
	{
		name: "a pod that is deleted counts as failed at once, even if it succeeds on its way out",
		play: func(s *scene) {
			j := s.create(aJob())
			slow := j.active(1).run()
			slow.delete()
			j.becomes(failed(1), terminating(1))
			slow.succeed()
			j.becomes(failed(1), succeeded(0), terminating(0))
			j.active(1).succeed()
			j.becomes(complete(), succeeded(1), failed(1))
		},
	},
	{
		name: "a Job with FailureTarget makes no more pods, whatever a user changes",
		play: func(s *scene) {
			j := s.create(aJob(pods(4, 2), backoffLimit(0)))
			j.active(2).run()[:1].fail(1)
			j.becomes(willFailBecause(batchv1.JobReasonBackoffLimitExceeded))
			slow := j.terminating(1)
			j.update(backoffLimit(10))
			j.scale(4)
			j.stays(active(0), terminating(1), unfinished())
			slow.fail(143)
			j.becomes(failed(2), failedBecause(batchv1.JobReasonBackoffLimitExceeded))
		},
	},
	{
		name: "a Job of no completions completes without pods",
		play: func(s *scene) {
			j := s.create(aJob(pods(0, 1)))
			j.becomes(complete(), succeeded(0), failed(0), active(0))
			j.tells("Completed")
		},
	},
	{
		name: "readiness is counted as it comes and goes",
		play: func(s *scene) {
			j := s.create(aJob(pods(3, 3)))
			all := j.active(3)
			j.becomes(active(3), ready(0))
			all.run()
			j.becomes(active(3), ready(3))
			all[:1].runUnready()
			j.becomes(active(3), ready(2))
			all.succeed()
			j.becomes(ready(0), complete())
		},
	},
}
