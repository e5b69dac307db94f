package scenario_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// combinationScenarios are about fields that act on each other. Where several verdicts are possible at once, the
// controller is stopped meanwhile, so that it finds them together.
var combinationScenarios = []scenario{
	{
		name: "maxFailedIndexes is judged before the failed indexes themselves",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(0), maxFailedIndexes(0)))
			two := j.active(2)
			s.stopController()
			two.fail(1)
			s.startController()
			j.becomes(exactly("failed=2 failedIndexes=0,1 " + tooManyFailed))
		},
		restarts: true,
	},
	{
		name: "a pod failure policy is judged before a success policy",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), succeedsBy(indexes("0")), failurePolicy(onExitCodes(failJob, 42))))
			two := j.active(2)
			s.stopController()
			two[:1].succeed()
			two[1:].fail(42)
			s.startController()
			j.becomes(exactly("succeeded=1 failed=1 completed=0 " + failedByPolicy))
		},
		restarts: true,
	},
	{
		name: "a success policy that is met while the Job is suspended completes it",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), succeedsBy(indexes("0"))))
			two := j.active(2).run()
			j.becomes(exactly("active=2 ready=2"))
			s.stopController()
			two[:1].succeed()
			j.suspend()
			s.startController()
			j.becomes(exactly("terminating=1 succeeded=1 completed=0 SuccessCriteriaMet(SuccessPolicy)"))
			j.terminating(1).untracked()
			two[1:].fail(1)
			j.becomes(exactly("succeeded=1 completed=0 " + policyMet))
		},
		restarts: true,
		differs:  "pods that are ended because the Job has succeeded never count as failed; upstream counts them when it happens to see its own deletion first",
		upstream: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), succeedsBy(indexes("0"))))
			two := j.active(2).run()
			j.becomes(active(2), ready(2))
			s.stopController()
			two[:1].succeed()
			j.suspend()
			s.startController()
			j.becomes(active(0), terminating(1), succeeded(1), is(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy))
			two[1:].fail(1)
			j.becomes(terminating(0), succeeded(1), completeBecause(batchv1.JobReasonSuccessPolicy))
		},
	},
	{
		name: "an index that waits for its next pod while the Job is suspended keeps its count",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(1)))
			two := j.active(2).run()
			s.stopController()
			two[:1].fail(1)
			j.suspend()
			s.startController()
			j.becomes(exactly("terminating=1 failedIndexes= Suspended(JobSuspended) unstarted"))
			two[1:].fail(143)
			j.stays(exactly("failedIndexes= Suspended(JobSuspended) unstarted"))
			two[:1].become("held", hasFinalizer)
			j.resume()
			j.becomes(exactly("active=2 failed=1 failedIndexes= !Suspended(JobResumed)"))
			next := j.active(2)
			s.same("failures of index 0", "1", next[0].Annotations[countAnnotation])
			s.same("failures of index 1", "0", next[1].Annotations[countAnnotation])
		},
		restarts: true,
	},
	{
		name: "a suspension drops the failures of indexes that were being tried again",
		play: func(s *scene) {
			j := s.create(aJob(indexed(1, 1), limitPerIndex(1)))
			j.active(1).failLongAgo(1)
			j.becomes(exactly("active=1 failed=1 failedIndexes="))
			s.same("count", "1", j.active(1)[0].Annotations[countAnnotation])
			j.suspend()
			j.becomes(exactly("failed=1 failedIndexes= Suspended(JobSuspended) unstarted"))
			j.resume()
			j.becomes(exactly("active=1 failed=1 failedIndexes= !Suspended(JobResumed)"))
			s.same("count", "0", j.active(1)[0].Annotations[countAnnotation])
		},
	},
	{
		name: "a failed pod that waits for the next of its index goes with its Job",
		play: func(s *scene) {
			j := s.create(aJob(indexed(1, 1), limitPerIndex(1)))
			p := j.active(1)
			p.fail(1)
			j.delete("Background")
			j.gone()
			p.gone()
		},
	},
	{
		name: "a deadline fails the Job, not its indexes",
		play: func(s *scene) {
			j := s.create(aJob(indexed(3, 3), limitPerIndex(0)))
			three := j.active(3).run()
			three[:1].fail(1)
			j.becomes(exactly("active=2 ready=2 failed=1 failedIndexes=0"))
			j.update(deadline(1))
			j.becomes(exactly("terminating=2 failed=3 failedIndexes=0 FailureTarget(DeadlineExceeded)"))
			three[1:].fail(143)
			j.becomes(exactly("failed=3 failedIndexes=0 " + pastDeadline))
		},
	},
	{
		name: "FailJob with a limit per index: the index fails as well",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(0), failurePolicy(onExitCodes(failJob, 42))))
			two := j.active(2).run()
			two[:1].fail(42)
			j.becomes(exactly("terminating=1 failed=2 failedIndexes=0 FailureTarget(PodFailurePolicy)"))
			two[1:].fail(1)
			j.becomes(exactly("failed=2 failedIndexes=0 " + failedByPolicy))
		},
	},
	{
		name: "backoffLimit is judged before the indexes, which fail as well",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(0), backoffLimit(0)))
			two := j.active(2).run()
			two[1:].fail(1)
			j.becomes(exactly("terminating=1 failed=2 failedIndexes=1 FailureTarget(BackoffLimitExceeded)"))
			two[:1].succeed()
			j.becomes(exactly("failed=2 failedIndexes=1 " + failedPods))
		},
	},
	{
		name: "Count with a limit per index counts to the index",
		play: func(s *scene) {
			j := s.create(aJob(indexed(1, 1), limitPerIndex(1), failurePolicy(onExitCodes(count, 7), onExitCodes(ignore, 7, 8))))
			j.active(1).failLongAgo(8)
			j.active(1)
			j.becomes(exactly("active=1 failedIndexes="))
			second := j.active(1)
			s.same("ignored", "1", second[0].Annotations[ignoredCountAnnotation])
			second.failLongAgo(7)
			j.becomes(exactly("active=1 failed=1 failedIndexes="))
			third := j.active(1)
			s.same("counted", "1", third[0].Annotations[countAnnotation])
			s.same("ignored", "1", third[0].Annotations[ignoredCountAnnotation])
			third.failLongAgo(7)
			j.becomes(exactly("failed=2 failedIndexes=0 " + failedByIndexes))
		},
	},
	{
		name: "a larger indexed Job with a failed index runs the new ones before it fails",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(0)))
			j.active(2)[:1].fail(1)
			j.becomes(exactly("active=1 failed=1 failedIndexes=0"))
			j.update(pods(3, 3))
			j.becomes(exactly("active=2 failed=1 failedIndexes=0"))
			j.active(2).succeed()
			j.becomes(exactly("succeeded=2 failed=1 completed=1,2 failedIndexes=0 " + failedByIndexes))
		},
	},
	{
		name: "suspending a Job that will fail changes nothing",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2), backoffLimit(0)))
			two := j.active(2).run()
			two[:1].fail(1)
			j.becomes(exactly("terminating=1 failed=2 FailureTarget(BackoffLimitExceeded)"))
			j.suspend()
			j.stays(exactly("terminating=1 failed=2 FailureTarget(BackoffLimitExceeded)"))
			two[1:].fail(143)
			j.becomes(exactly("failed=2 " + failedPods))
			j.tells("SuccessfulCreate", "SuccessfulDelete", "BackoffLimitExceeded")
		},
	},
	{
		name: "suspending a Job that will complete changes nothing",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), succeedsBy(anyOf(1))))
			two := j.active(2).run()
			two[:1].succeed()
			j.becomes(exactly("terminating=1 succeeded=1 completed=0 SuccessCriteriaMet(SuccessPolicy)"))
			j.terminating(1).untracked()
			j.suspend()
			j.stays(exactly("terminating=1 succeeded=1 completed=0 SuccessCriteriaMet(SuccessPolicy)"))
			j.terminating(1).untracked()
			two[1:].fail(143)
			j.becomes(exactly("succeeded=1 completed=0 " + policyMet))
			j.tells("SuccessfulCreate", "SuccessfulDelete", "Completed")
		},
	},
	{
		name: "an indexed Job of more parallelism than completions runs each index once",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 5)))
			j.becomes(exactly("active=2"))
			j.active(2).haveIndexes(0, 1)
			j.active(2).succeed()
			j.becomes(exactly("succeeded=2 completed=0,1 " + allDone))
		},
	},
	{
		name: "a paused indexed Job goes on with the indexes that are missing",
		play: func(s *scene) {
			j := s.create(aJob(indexed(3, 3)))
			j.active(3)[1:2].succeed()
			j.becomes(exactly("active=2 succeeded=1 completed=1"))
			j.scale(0)
			j.becomes(exactly("succeeded=1 completed=1"))
			j.scale(1)
			j.becomes(exactly("active=1 succeeded=1 completed=1"))
			j.active(1).haveIndexes(0)
		},
	},
	{
		name: "a pod that is disrupted while it succeeds is a success",
		play: func(s *scene) {
			j := s.create(aJob(failurePolicy(onCondition(failJob, corev1.DisruptionTarget, corev1.ConditionTrue))))
			p := j.active(1).run()
			p.each(func(p pod) error { return p.report(disrupted) })
			j.stays(exactly("active=1 ready=1"))
			p.succeed()
			j.becomes(exactly("succeeded=1 " + allDone))
		},
	},
	{
		name: "two FailJob pods: one message, and it stays",
		play: func(s *scene) {
			j := s.create(aJob(pods(3, 3), failurePolicy(onExitCodes(failJob, 42))))
			three := j.active(3).run()
			three[:1].fail(42)
			first := condition(j.becomes(willFailBecause(batchv1.JobReasonPodFailurePolicy)), batchv1.JobFailureTarget).Message
			three[1:].fail(42)
			j.becomes(exactly("failed=3 "+failedByPolicy), says(batchv1.JobFailureTarget, first), says(batchv1.JobFailed, first))
		},
	},
}
