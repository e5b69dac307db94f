package lifecycle

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// restarts reports whether a container that exited with this code is started again: its first matching rule decides,
// then its own policy, then the pod's.
func restarts(pod *corev1.Pod, c *corev1.Container, exitCode int32) bool {
	if ruleFor(c, exitCode) != "" {
		return true
	}
	switch policyOf(pod, c) {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return exitCode != 0
	}
	return true
}

// ruleFor returns the action of the first rule that matches; empty if none does.
func ruleFor(c *corev1.Container, exitCode int32) corev1.ContainerRestartRuleAction {
	for _, rule := range c.RestartPolicyRules {
		if matches(rule.ExitCodes, exitCode) {
			return rule.Action
		}
	}
	return ""
}

func policyOf(pod *corev1.Pod, c *corev1.Container) corev1.RestartPolicy {
	if c.RestartPolicy != nil {
		return corev1.RestartPolicy(*c.RestartPolicy)
	}
	return pod.Spec.RestartPolicy
}

// restarts reports whether the exited container is started again. One that was killed because of a probe is, whatever its
// exit code, unless its policy is Never.
func (c container) restarts(pod *corev1.Pod) bool {
	if _, failed := c.Probes.Failed(); failed && c.wasStopped() && policyOf(pod, c.spec) != corev1.RestartPolicyNever {
		return true
	}
	return restarts(pod, c.spec, c.Last.ExitCode)
}

// restartsInit is restarts for an init container that is no sidecar: success is final under every policy.
func restartsInit(pod *corev1.Pod, c *corev1.Container, exitCode int32) bool {
	return exitCode != 0 && restarts(pod, c, exitCode)
}

func matches(codes *corev1.ContainerRestartRuleOnExitCodes, exitCode int32) bool {
	if codes == nil {
		return false
	}
	in := slices.Contains(codes.Values, exitCode)
	return in == (codes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn)
}
