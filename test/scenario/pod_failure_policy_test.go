package scenario_test

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func failurePolicy(rules ...batchv1.PodFailurePolicyRule) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rules} }
}

func onExitCodes(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
		Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes,
	}}
}

func onOtherExitCodes(action batchv1.PodFailurePolicyAction, codes ...int32) batchv1.PodFailurePolicyRule {
	r := onExitCodes(action, codes...)
	r.OnExitCodes.Operator = batchv1.PodFailurePolicyOnExitCodesOpNotIn
	return r
}

func ofContainer(name string, r batchv1.PodFailurePolicyRule) batchv1.PodFailurePolicyRule {
	r.OnExitCodes.ContainerName = &name
	return r
}

func onCondition(action batchv1.PodFailurePolicyAction, kind corev1.PodConditionType, status corev1.ConditionStatus) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
		{Type: kind, Status: status},
	}}
}

const (
	failJob = batchv1.PodFailurePolicyActionFailJob
	ignore  = batchv1.PodFailurePolicyActionIgnore
	count   = batchv1.PodFailurePolicyActionCount
)

func container(name string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		spec := &j.Spec.Template.Spec
		spec.Containers = append(spec.Containers, corev1.Container{Name: name, Image: "scripted"})
	}
}

func initContainer(j *batchv1.Job) {
	j.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "scripted"}}
}

func disrupted(s *corev1.PodStatus) {
	setCondition(s, corev1.DisruptionTarget, corev1.ConditionTrue, "EvictionByEvictionAPI")
}

// podFailurePolicyScenarios are about what a failure means.
var podFailurePolicyScenarios = []scenario{
	{
		name: "FailJob on an exit code ends the Job, whatever its backoff limit",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2), failurePolicy(onExitCodes(ignore, 1), onExitCodes(failJob, 41, 42))))
			two := j.active(2).run()
			two[:1].fail(42)
			j.becomes(exactly("terminating=1 failed=2 FailureTarget(PodFailurePolicy)"))
			two[1:].succeed()
			why := fmt.Sprintf("Container main for pod %s/%s failed with exit code 42 matching FailJob rule at index 1", s.namespace, two[0].Name)
			j.becomes(exactly("failed=2 "+failedByPolicy), says(batchv1.JobFailureTarget, why), says(batchv1.JobFailed, why))
			j.tells("SuccessfulCreate", "SuccessfulDelete", "PodFailurePolicy: "+why)
		},
	},
	{
		name: "FailJob on a pod condition, with the status that the rule names",
		play: func(s *scene) {
			j := s.create(aJob(failurePolicy(onCondition(ignore, "Odd", corev1.ConditionTrue), onCondition(failJob, "Odd", corev1.ConditionFalse))))
			p := j.active(1)
			p.endsWith(func(s *corev1.PodStatus) { setCondition(s, "Odd", corev1.ConditionFalse, "") })
			j.becomes(exactly("failed=1 "+failedByPolicy),
				says(batchv1.JobFailed, fmt.Sprintf("Pod %s/%s has condition Odd matching FailJob rule at index 1", s.namespace, p[0].Name)))
		},
	},
	{
		name: "a condition with another status than the rule's does not match",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(0), failurePolicy(onCondition(ignore, "Odd", corev1.ConditionFalse))))
			j.active(1).endsWith(func(s *corev1.PodStatus) { setCondition(s, "Odd", corev1.ConditionTrue, "") })
			j.becomes(exactly("failed=1 " + failedPods))
		},
	},
	{
		name: "an ignored failure is not counted; the pod is replaced",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(0), failurePolicy(onCondition(ignore, corev1.DisruptionTarget, corev1.ConditionTrue))))
			first := j.active(1)
			first.endsWith(disrupted)
			first.untracked()
			j.becomes(exactly("active=1"))
			j.active(1).succeed()
			j.becomes(exactly("succeeded=1 " + allDone))
		},
	},
	{
		name: "an ignored failure is followed by the usual delay",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(0), failurePolicy(onExitCodes(ignore, 42))))
			first := j.active(1)
			first.fail(42)
			first.untracked()
			j.becomes(exactly("active=1"))
			j.active(1).madeAfter(first, s.column.backoff)
		},
	},
	{
		name: "the first rule that matches decides",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(0), failurePolicy(onExitCodes(count, 7), onExitCodes(ignore, 7, 42), onExitCodes(failJob, 42))))
			first := j.active(1)
			first.failLongAgo(42)
			first.untracked()
			j.becomes(exactly("active=1"))
			j.active(1).failLongAgo(7)
			j.becomes(exactly("failed=1 " + failedPods))
		},
	},
	{
		name: "NotIn matches every exit code but those listed and 0",
		play: func(s *scene) {
			j := s.create(aJob(container("other"), failurePolicy(onOtherExitCodes(failJob, 1, 2))))
			j.active(1).exitsWith(2, 0)
			j.becomes(exactly("active=1 failed=1"))
			j.active(1).exitsWith(0, 3)
			j.becomes(exactly("failed=2 " + failedByPolicy))
		},
	},
	{
		name: "a rule can name the container",
		play: func(s *scene) {
			j := s.create(aJob(container("other"), failurePolicy(ofContainer("main", onExitCodes(failJob, 42)))))
			j.active(1).exitsWith(0, 42)
			j.becomes(exactly("active=1 failed=1"))
			p := j.active(1)
			p.exitsWith(42, 0)
			j.becomes(exactly("failed=2 "+failedByPolicy), says(batchv1.JobFailed,
				fmt.Sprintf("Container main for pod %s/%s failed with exit code 42 matching FailJob rule at index 0", s.namespace, p[0].Name)))
		},
	},
	{
		name: "init containers count too, after the main ones",
		play: func(s *scene) {
			for n, codes := range [][]int32{{1, 42}, {42, 42}} {
				j := s.create(aJob(named(fmt.Sprintf("job-%d", n)), initContainer, failurePolicy(onExitCodes(failJob, 42))))
				p := j.active(1)
				p.endsWith(func(s *corev1.PodStatus) {
					init := s.ContainerStatuses[0].DeepCopy()
					init.Name, init.State.Terminated.ExitCode = "init", codes[1]
					s.InitContainerStatuses = []corev1.ContainerStatus{*init}
					setExitCodes(s, codes[:1])
				})
				name := []string{"init", "main"}[n]
				j.becomes(exactly("failed=1 "+failedByPolicy), says(batchv1.JobFailed,
					fmt.Sprintf("Container %s for pod %s/%s failed with exit code 42 matching FailJob rule at index 0", name, s.namespace, p[0].Name)))
			}
		},
	},
	{
		name: "an exit code may be negative",
		play: func(s *scene) {
			j := s.create(aJob(failurePolicy(onExitCodes(failJob, -1073741510, 3))))
			j.active(1).fail(-1073741510)
			j.becomes(exactly("failed=1 " + failedByPolicy))
		},
	},
	{
		name: "a failure that no rule matches counts",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(1), failurePolicy(onExitCodes(ignore, 42))))
			j.active(1).failLongAgo(1)
			j.becomes(exactly("active=1 failed=1"))
			j.active(1).fail(1)
			j.becomes(exactly("failed=2 " + failedPods))
		},
	},
	{
		name: "FailJob comes before the backoff limit",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2), backoffLimit(0), failurePolicy(onExitCodes(failJob, 42))))
			j.active(2).run().fail(42) // a pod without a node would be gone as soon as the other one fails
			j.becomes(exactly("failed=2 " + failedByPolicy))
		},
	},
	{
		name: "a pod that was deleted is judged only once it has ended",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(0), failurePolicy(onExitCodes(failJob, 42), onCondition(ignore, corev1.DisruptionTarget, corev1.ConditionTrue))))
			p := j.active(1).run()
			p.each(func(p pod) error { return p.report(disrupted) })
			p.delete()
			j.stays(exactly("terminating=1"))
			p.fail(42)
			j.becomes(exactly("failed=1 " + failedByPolicy))
		},
	},
	{
		name: "an evicted pod is ignored and replaced once it has ended",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(0), failurePolicy(onCondition(ignore, corev1.DisruptionTarget, corev1.ConditionTrue))))
			p := j.active(1).run()
			p.evict()
			j.becomes(exactly("terminating=1"))
			p.failLongAgo(137)
			j.becomes(exactly("active=1"))
			p.gone()
		},
	},
	{
		name: "pods that end because the Job failed are judged too: those that a rule ignores are not counted",
		play: func(s *scene) {
			j := s.create(aJob(pods(3, 3), failurePolicy(onCondition(ignore, corev1.DisruptionTarget, corev1.ConditionTrue), onExitCodes(failJob, 42))))
			three := j.active(3).run()
			three[:1].each(func(p pod) error { return p.report(disrupted) })
			three[1:2].fail(42)
			j.becomes(exactly("terminating=2 failed=2 FailureTarget(PodFailurePolicy)"))
			three[:1].fail(1)
			three[2:].succeed()
			j.becomes(exactly("failed=2 " + failedByPolicy))
		},
	},
	{
		name: "a policy has pods replaced only once they have ended, and refuses the other way",
		play: func(s *scene) {
			j := s.create(aJob(failurePolicy(onExitCodes(ignore, 42))))
			s.same("podReplacementPolicy", batchv1.Failed, *j.now().Spec.PodReplacementPolicy)
			j.active(1).run().delete()
			j.stays(exactly("terminating=1"))
			j.terminating(1).failLongAgo(1)
			j.becomes(exactly("active=1 failed=1"))
			j.refuses(failurePolicy(onExitCodes(ignore, 43)), "spec.podFailurePolicy", "field is immutable")
		},
	},
	{
		name: "a FailJob that happened while the controller was away is found",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(0), failurePolicy(onExitCodes(failJob, 42))))
			p := j.active(1)
			s.stopController()
			p.fail(42)
			p.delete()
			s.startController()
			j.becomes(exactly("failed=1 " + failedByPolicy))
			p.gone()
		},
		restarts: true,
	},
}
