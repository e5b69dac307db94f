package registry

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubectl/pkg/util/qos"
)

// preparePodStatusUpdate keeps what a status writer has no say in. Labels, annotations and finalizers go through, as
// they do upstream.
func preparePodStatusUpdate(pod, old *corev1.Pod) {
	pod.Spec = boundSpec(pod, old)
	pod.OwnerReferences = old.OwnerReferences
	pod.Generation = old.Generation
	pod.DeletionTimestamp = old.DeletionTimestamp
	pod.DeletionGracePeriodSeconds = old.DeletionGracePeriodSeconds
	setDefault(&pod.Status.QOSClass, qos.GetPodQOS(old))
	pairAddresses(&pod.Status)
}

// boundSpec is the old spec, except that the node may say with its first status that the pod is its own. That spares
// a write for each pod.
func boundSpec(pod, old *corev1.Pod) corev1.PodSpec {
	spec := old.Spec
	if spec.NodeName == "" && len(spec.SchedulingGates) == 0 {
		spec.NodeName = pod.Spec.NodeName
	}
	return spec
}

// pairAddresses keeps the single address and the first of the list the same, whichever the writer set.
func pairAddresses(s *corev1.PodStatus) {
	switch {
	case s.PodIP == "" && len(s.PodIPs) > 0:
		s.PodIP = s.PodIPs[0].IP
	case s.PodIP != "" && (len(s.PodIPs) == 0 || s.PodIPs[0].IP != s.PodIP):
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	}
	switch {
	case s.HostIP == "" && len(s.HostIPs) > 0:
		s.HostIP = s.HostIPs[0].IP
	case s.HostIP != "" && (len(s.HostIPs) == 0 || s.HostIPs[0].IP != s.HostIP):
		s.HostIPs = []corev1.HostIP{{IP: s.HostIP}}
	}
}

func validatePodStatusUpdate(pod, old *corev1.Pod) field.ErrorList {
	p := field.NewPath("status")
	now, was := &pod.Status, &old.Status
	var errs field.ErrorList
	if was.QOSClass != "" && now.QOSClass != was.QOSClass {
		errs = append(errs, field.Invalid(p.Child("qosClass"), now.QOSClass, "field is immutable"))
	}
	if pod.Spec.NodeName != "" {
		errs = append(errs, subdomain(pod.Spec.NodeName, field.NewPath("spec", "nodeName"))...)
	}
	if now.NominatedNodeName != "" {
		errs = append(errs, subdomain(now.NominatedNodeName, p.Child("nominatedNodeName"))...)
	}
	if now.ObservedGeneration < 0 {
		errs = append(errs, field.Invalid(p.Child("observedGeneration"), now.ObservedGeneration, "must be greater than or equal to 0"))
	}
	errs = append(errs, validateConditionTypes(now.Conditions, p.Child("conditions"))...)
	errs = append(errs, validateStaysEnded(pod.Spec.InitContainers, now.InitContainerStatuses, was.InitContainerStatuses,
		endedForGood(&pod.Spec), p.Child("initContainerStatuses"))...)
	return append(errs, validateStaysEnded(pod.Spec.Containers, now.ContainerStatuses, was.ContainerStatuses,
		endedForGood(&pod.Spec), p.Child("containerStatuses"))...)
}

func validateConditionTypes(conditions []corev1.PodCondition, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[corev1.PodConditionType]()
	for i, c := range conditions {
		errs = append(errs, requireName(string(c.Type), p.Index(i).Child("type"))...)
		if seen.Has(c.Type) {
			errs = append(errs, field.Duplicate(p.Index(i).Child("type"), c.Type))
		}
		seen.Insert(c.Type)
	}
	return errs
}

// endedForGood returns whether a container that ended with an exit code is never started again. A pod is counted by
// how its containers ended, so such an end must not be taken back.
func endedForGood(s *corev1.PodSpec) func(*corev1.Container, int32) bool {
	return func(c *corev1.Container, exitCode int32) bool {
		if len(c.RestartPolicyRules) > 0 {
			return false
		}
		policy := s.RestartPolicy
		if c.RestartPolicy != nil {
			policy = corev1.RestartPolicy(*c.RestartPolicy)
		}
		return policy == corev1.RestartPolicyNever || (policy == corev1.RestartPolicyOnFailure && exitCode == 0)
	}
}

func validateStaysEnded(containers []corev1.Container, now, was []corev1.ContainerStatus,
	forGood func(*corev1.Container, int32) bool, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, old := range was {
		spec := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == old.Name })
		if old.State.Terminated == nil || spec < 0 || !forGood(&containers[spec], old.State.Terminated.ExitCode) {
			continue
		}
		for i, status := range now {
			if status.Name == old.Name && status.State.Terminated == nil {
				errs = append(errs, field.Forbidden(p.Index(i).Child("state"),
					fmt.Sprintf("container %q has ended and may not be transitioned to non-terminated state", old.Name)))
			}
		}
	}
	return errs
}
