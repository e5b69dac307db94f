package pod

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateContainerStatuses validates the statuses of containers. A terminated container that is not restarted must stay
// terminated, because its Job counts the pod by it.
func validateContainerStatuses(pod, old *corev1.Pod, p *field.Path) field.ErrorList {
	now, was := &pod.Status, &old.Status
	ephemeral := p.Child("ephemeralContainerStatuses")
	errs := slices.Concat(
		validateUsers(now.InitContainerStatuses, p.Child("initContainerStatuses")),
		validateUsers(now.ContainerStatuses, p.Child("containerStatuses")),
		validateUsers(now.EphemeralContainerStatuses, ephemeral),
		validateStaysEnded(&pod.Spec, now.EphemeralContainerStatuses, was.EphemeralContainerStatuses, ephemeral))
	if restartsAllContainers(&pod.Spec) {
		return errs
	}
	errs = append(errs, validateStaysEnded(&pod.Spec, now.InitContainerStatuses, was.InitContainerStatuses, p.Child("initContainerStatuses"))...)
	return append(errs, validateStaysEnded(&pod.Spec, now.ContainerStatuses, was.ContainerStatuses, p.Child("containerStatuses"))...)
}

// restartsAllContainers reports whether a container has a rule that restarts all containers of the pod.
func restartsAllContainers(s *corev1.PodSpec) bool {
	for _, c := range ContainersAt(s, nil) {
		if slices.ContainsFunc(c.RestartPolicyRules, restartsAll) {
			return true
		}
	}
	return false
}

func restartsAll(r corev1.ContainerRestartRule) bool {
	return r.Action == corev1.ContainerRestartRuleActionRestartAllContainers
}

func validateStaysEnded(s *corev1.PodSpec, now, was []corev1.ContainerStatus, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, old := range was {
		if old.State.Terminated == nil || mayRestart(s, old.Name, old.State.Terminated.ExitCode) {
			continue
		}
		again := func(status corev1.ContainerStatus) bool {
			return status.Name == old.Name && status.State.Terminated == nil
		}
		if slices.ContainsFunc(now, again) {
			errs = append(errs, field.Forbidden(p.Index(i).Child("state"),
				fmt.Sprintf("container %q has ended and may not be transitioned to non-terminated state", old.Name)))
		}
	}
	return errs
}

// mayRestart reports whether a container that terminated with an exit code is restarted: by one of its rules, or else by
// its restart policy, or else by the pod's. Ephemeral containers never are.
func mayRestart(s *corev1.PodSpec, name string, exitCode int32) bool {
	for _, c := range ContainersAt(s, nil) {
		if c.Name != name || indexOfEphemeral(s, name) >= 0 {
			continue
		}
		policy := s.RestartPolicy
		if c.RestartPolicy != nil {
			if slices.ContainsFunc(c.RestartPolicyRules, func(r corev1.ContainerRestartRule) bool { return matches(r.ExitCodes, exitCode) }) {
				return true
			}
			policy = corev1.RestartPolicy(*c.RestartPolicy)
		}
		return policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && exitCode != 0
	}
	return false
}

func matches(codes *corev1.ContainerRestartRuleOnExitCodes, exitCode int32) bool {
	if codes == nil {
		return false
	}
	in := codes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn
	return slices.Contains(codes.Values, exitCode) == in
}

func validateUsers(statuses []corev1.ContainerStatus, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, status := range statuses {
		if status.User == nil || status.User.Linux == nil {
			continue
		}
		user, at := status.User.Linux, p.Index(i).Child("user", "linux")
		errs = append(errs, validateUser(&user.UID, at.Child("uid"))...)
		errs = append(errs, validateGroup(&user.GID, at.Child("gid"))...)
		for j := range user.SupplementalGroups {
			errs = append(errs, validateGroup(&user.SupplementalGroups[j], at.Child("supplementalGroups").Index(j))...)
		}
	}
	return errs
}
