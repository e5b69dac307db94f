package lifecycle

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// restarts reports whether a container that exited with this code is started again: its first matching rule decides,
// then its own policy, then the pod's.
func restarts(pod *corev1.Pod, c *corev1.Container, exitCode int32) bool {
	for _, rule := range c.RestartPolicyRules {
		if rule.Action == corev1.ContainerRestartRuleActionRestart && matches(rule.ExitCodes, exitCode) {
			return true
		}
	}
	policy := pod.Spec.RestartPolicy
	if c.RestartPolicy != nil {
		policy = corev1.RestartPolicy(*c.RestartPolicy)
	}
	switch policy {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return exitCode != 0
	}
	return true
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
