package job

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// policyMatch is what spec.podFailurePolicy says about one failed pod: its first rule that matches.
type policyMatch struct {
	// action is empty where no rule matches; then the failure counts.
	action batchv1.PodFailurePolicyAction
	// message says why the Job fails, for the action FailJob.
	message string
}

func (m policyMatch) counts() bool { return m.action != batchv1.PodFailurePolicyActionIgnore }

// failedByPodFailurePolicy fails a Job with a pod that a FailJob rule matches.
func failedByPodFailurePolicy(v view) *Verdict {
	if v.job.Spec.PodFailurePolicy == nil {
		return nil
	}
	for _, p := range v.owned {
		if !failed(v.job, p) {
			continue
		}
		if m := matchFailurePolicy(v.job, p); m.action == batchv1.PodFailurePolicyActionFailJob {
			return failure(batchv1.JobReasonPodFailurePolicy, m.message)
		}
	}
	return nil
}

func countedFailures(job *batchv1.Job, pods []*corev1.Pod) int {
	n := 0
	for _, p := range pods {
		if matchFailurePolicy(job, p).counts() {
			n++
		}
	}
	return n
}

func matchFailurePolicy(job *batchv1.Job, p *corev1.Pod) policyMatch {
	policy := job.Spec.PodFailurePolicy
	if policy == nil {
		return policyMatch{}
	}
	for i := range policy.Rules {
		if why := matchFailure(&policy.Rules[i], p); why != "" {
			return policyMatch{
				action:  policy.Rules[i].Action,
				message: fmt.Sprintf("%s matching %s rule at index %d", why, policy.Rules[i].Action, i),
			}
		}
	}
	return policyMatch{}
}

// matchFailure describes how p matches the rule; it is empty if p does not.
func matchFailure(rule *batchv1.PodFailurePolicyRule, p *corev1.Pod) string {
	if rule.OnExitCodes != nil {
		if c := matchExitCode(rule.OnExitCodes, p); c != nil {
			return fmt.Sprintf("Container %s for pod %s/%s failed with exit code %d",
				c.Name, p.Namespace, p.Name, c.State.Terminated.ExitCode)
		}
		return ""
	}
	for _, c := range p.Status.Conditions {
		if slices.ContainsFunc(rule.OnPodConditions, func(want batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
			return want.Type == c.Type && want.Status == c.Status
		}) {
			return fmt.Sprintf("Pod %s/%s has condition %s", p.Namespace, p.Name, c.Type)
		}
	}
	return ""
}

// matchExitCode returns the container of p that the rule matches: main containers before init containers. Exit code 0
// is no failure and matches nothing, not even NotIn.
func matchExitCode(rule *batchv1.PodFailurePolicyOnExitCodesRequirement, p *corev1.Pod) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
		for i := range list {
			end := list[i].State.Terminated
			named := rule.ContainerName == nil || *rule.ContainerName == list[i].Name
			if named && end != nil && end.ExitCode != 0 && exitCodeMatches(rule, end.ExitCode) {
				return &list[i]
			}
		}
	}
	return nil
}

func exitCodeMatches(rule *batchv1.PodFailurePolicyOnExitCodesRequirement, code int32) bool {
	listed := slices.Contains(rule.Values, code)
	switch rule.Operator {
	case batchv1.PodFailurePolicyOnExitCodesOpIn:
		return listed
	case batchv1.PodFailurePolicyOnExitCodesOpNotIn:
		return !listed
	default:
		return false
	}
}
