package scenario_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func succeedsBy(rules ...batchv1.SuccessPolicyRule) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rules} }
}

func indexes(all string) batchv1.SuccessPolicyRule {
	return batchv1.SuccessPolicyRule{SucceededIndexes: &all}
}

func anyOf(n int32) batchv1.SuccessPolicyRule { return batchv1.SuccessPolicyRule{SucceededCount: &n} }

func someOf(n int32, all string) batchv1.SuccessPolicyRule {
	return batchv1.SuccessPolicyRule{SucceededIndexes: &all, SucceededCount: &n}
}

// successPolicyScenarios are about Jobs that are done before all indexes are.
var successPolicyScenarios = []scenario{
	{
		name: "a Job completes when the indexes of a success rule have succeeded",
		play: func(s *scene) {
			j := s.create(aJob(indexed(4, 4), succeedsBy(indexes("0,2-3"))))
			four := j.active(4).run()
			four[:1].succeed()
			four[3:].succeed()
			j.becomes(exactly("active=2 ready=2 succeeded=2 completed=0,3"))
			four[2:3].succeed()
			j.becomes(exactly("terminating=1 succeeded=3 completed=0,2,3 SuccessCriteriaMet(SuccessPolicy)"))
			j.terminating(1).untracked()
			four[1:2].fail(1)
			j.becomes(exactly("succeeded=3 completed=0,2,3 "+policyMet),
				says(batchv1.JobSuccessCriteriaMet, "Matched rules at index 0"), says(batchv1.JobComplete, "Matched rules at index 0"))
			j.tells("SuccessfulCreate", "SuccessfulDelete", "Completed: Job completed")
		},
	},
	{
		name: "a success rule can ask for any number of indexes",
		play: func(s *scene) {
			j := s.create(aJob(indexed(4, 4), succeedsBy(anyOf(2))))
			j.active(4)[3:].succeed()
			j.becomes(exactly("active=3 succeeded=1 completed=3"))
			j.active(3)[1:2].succeed()
			j.becomes(exactly("succeeded=2 completed=1,3 " + policyMet))
		},
	},
	{
		name: "a success rule can ask for some of several indexes",
		play: func(s *scene) {
			j := s.create(aJob(indexed(4, 4), succeedsBy(someOf(2, "1-3"))))
			j.active(4)[:1].succeed()
			j.becomes(exactly("active=3 succeeded=1 completed=0"))
			j.active(3)[2:].succeed()
			j.becomes(exactly("active=2 succeeded=2 completed=0,3"))
			j.active(2)[:1].succeed()
			j.becomes(exactly("succeeded=3 completed=0,1,3 " + policyMet))
		},
	},
	{
		name: "of several success rules the first that is met gives the message",
		play: func(s *scene) {
			j := s.create(aJob(indexed(4, 4), succeedsBy(indexes("0-3"), indexes("2"), anyOf(1))))
			j.active(4)[2:3].succeed()
			j.becomes(exactly("succeeded=1 completed=2 "+policyMet), says(batchv1.JobComplete, "Matched rules at index 1"))
		},
	},
	{
		name: "a success rule that asks for all indexes is named as the reason",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 1), succeedsBy(indexes("0-1"))))
			j.active(1).succeed()
			j.becomes(exactly("active=1 succeeded=1 completed=0"))
			j.active(1).succeed()
			j.becomes(exactly("succeeded=2 completed=0,1 " + policyMet))
		},
	},
	{
		name: "a Job with failed indexes can still meet its success policy",
		play: func(s *scene) {
			j := s.create(aJob(indexed(3, 3), limitPerIndex(0), succeedsBy(indexes("1"))))
			three := j.active(3).run()
			three[:1].fail(1)
			j.becomes(exactly("active=2 ready=2 failed=1 failedIndexes=0"))
			three[1:2].succeed()
			j.becomes(exactly("terminating=1 succeeded=1 failed=1 completed=1 failedIndexes=0 SuccessCriteriaMet(SuccessPolicy)"))
			j.terminating(1).untracked()
			three[2:].fail(1)
			j.becomes(exactly("succeeded=1 failed=1 completed=1 failedIndexes=0 " + policyMet))
		},
	},
	{
		name: "a success that comes with the last index fails a Job with a failed index",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(0), succeedsBy(anyOf(1))))
			j.active(2)[:1].fail(1)
			j.becomes(exactly("active=1 failed=1 failedIndexes=0"))
			j.active(1).succeed()
			j.becomes(exactly("succeeded=1 failed=1 completed=1 failedIndexes=0 " + failedByIndexes))
		},
	},
	{
		name: "a failure after the success verdict changes nothing",
		play: func(s *scene) {
			j := s.create(aJob(indexed(3, 3), backoffLimit(0), succeedsBy(indexes("0"))))
			three := j.active(3).run()
			three[:1].succeed()
			j.becomes(exactly("terminating=2 succeeded=1 completed=0 SuccessCriteriaMet(SuccessPolicy)"))
			j.terminating(2).untracked()
			three[1:2].fail(1)
			j.becomes(exactly("terminating=1 succeeded=1 completed=0 SuccessCriteriaMet(SuccessPolicy)"))
			j.terminating(1).untracked()
			three[2:].succeed()
			j.becomes(exactly("succeeded=1 completed=0 " + policyMet))
		},
	},
	{
		name: "a success after the failure verdict changes nothing",
		play: func(s *scene) {
			j := s.create(aJob(indexed(3, 3), backoffLimit(0), succeedsBy(indexes("0"))))
			three := j.active(3).run()
			three[1:2].fail(1)
			j.becomes(exactly("terminating=2 failed=3 FailureTarget(BackoffLimitExceeded)"))
			three[:1].succeed()
			j.becomes(exactly("terminating=1 failed=3 FailureTarget(BackoffLimitExceeded)"))
			three[2:].succeed()
			j.becomes(exactly("failed=3 " + failedPods))
		},
	},
	{
		name: "a success waits for pods that were deleted before",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), replacesEnded, succeedsBy(indexes("0"))))
			two := j.active(2).run()
			two[1:].delete()
			j.becomes(exactly("active=1 ready=1 terminating=1"))
			two[:1].succeed()
			j.becomes(exactly("terminating=1 succeeded=1 completed=0 SuccessCriteriaMet(SuccessPolicy)"))
			j.terminating(1).untracked()
			two[1:].fail(1)
			j.becomes(exactly("succeeded=1 completed=0 " + policyMet))
		},
	},
	{
		name: "a success comes while a failed index waits for its next pod",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), succeedsBy(indexes("1"))))
			two := j.active(2)
			two[:1].fail(1)
			two[1:].succeed()
			j.becomes(exactly("succeeded=1 failed=1 completed=1 " + policyMet))
		},
	},
	{
		name: "a success policy does not change",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), succeedsBy(indexes("1"))))
			j.refuses(succeedsBy(indexes("0")), "spec.successPolicy", "field is immutable")
		},
	},
}

// untracked waits until the controller has removed the finalizers of the pods. Their end is not counted any more.
func (l podList) untracked() podList {
	l.scene().Helper()
	l.become("without finalizer", func(p *corev1.Pod) bool { return !hasFinalizer(p) })
	return l
}
