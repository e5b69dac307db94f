package pod

import (
	"iter"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// validateSpec validates the spec of a pod or template by the rules that do not depend on the node.
func validateSpec(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	volumes, errs := validateVolumes(s.Volumes, p.Child("volumes"))
	errs = append(errs, validateContainers(s, volumes, p)...)
	errs = append(errs, check.Among(s.RestartPolicy, p.Child("restartPolicy"),
		corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	errs = append(errs, validateDeadline(s, p.Child("activeDeadlineSeconds"))...)
	errs = append(errs, validatePodSecurity(s, p)...)
	errs = append(errs, validateNetwork(s, p)...)
	errs = append(errs, validateScheduling(s, p)...)
	errs = append(errs, validatePodResources(s, p)...)
	errs = append(errs, validateVariableFiles(s, p)...)
	errs = append(errs, validateSystem(s, p)...)
	return append(errs, validateReferences(s, p)...)
}

func validateDeadline(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	if d := s.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		return field.ErrorList{field.Invalid(p, *d, validation.InclusiveRangeError(1, math.MaxInt32))}
	}
	return nil
}

// validateReferences validates the names of other objects to which a pod refers.
func validateReferences(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, ref := range []struct{ field, name string }{
		{"serviceAccountName", s.ServiceAccountName},
		{"nodeName", s.NodeName},
		{"priorityClassName", s.PriorityClassName},
	} {
		if ref.name != "" {
			errs = append(errs, check.Subdomain(ref.name, p.Child(ref.field))...)
		}
	}
	if s.RuntimeClassName != nil {
		errs = append(errs, check.Subdomain(*s.RuntimeClassName, p.Child("runtimeClassName"))...)
	}
	if s.SchedulingGroup != nil {
		errs = append(errs, check.Subdomain(ptr.Deref(s.SchedulingGroup.PodGroupName, ""), p.Child("schedulingGroup", "podGroupName"))...)
	}
	if s.PreemptionPolicy != nil {
		errs = append(errs, check.Among(*s.PreemptionPolicy, p.Child("preemptionPolicy"), corev1.PreemptLowerPriority, corev1.PreemptNever)...)
	}
	return append(errs, validateResourceClaims(s.ResourceClaims, p.Child("resourceClaims"))...)
}

func validateResourceClaims(claims []corev1.PodResourceClaim, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, c := range claims {
		at := p.Index(i)
		errs = append(errs, uniqueLabel(c.Name, seen, at.Child("name"))...)
		if (c.ResourceClaimName == nil) == (c.ResourceClaimTemplateName == nil) {
			errs = append(errs, field.Invalid(at, c.Name, "must name one of resourceClaimName and resourceClaimTemplateName"))
		}
		if c.ResourceClaimName != nil {
			errs = append(errs, check.Subdomain(*c.ResourceClaimName, at.Child("resourceClaimName"))...)
		}
		if c.ResourceClaimTemplateName != nil {
			errs = append(errs, check.Subdomain(*c.ResourceClaimTemplateName, at.Child("resourceClaimTemplateName"))...)
		}
	}
	return errs
}

// uniqueLabel requires that name is a DNS label and not in seen. It adds name to seen.
func uniqueLabel(name string, seen sets.Set[string], p *field.Path) field.ErrorList {
	errs := check.Label(name, p)
	if seen.Has(name) {
		errs = append(errs, field.Duplicate(p, name))
	}
	seen.Insert(name)
	return errs
}

// ContainersAt iterates over all init containers, containers and ephemeral containers with their paths.
func ContainersAt(s *corev1.PodSpec, p *field.Path) iter.Seq2[*field.Path, *corev1.Container] {
	return func(yield func(*field.Path, *corev1.Container) bool) {
		for i := range s.InitContainers {
			if !yield(p.Child("initContainers").Index(i), &s.InitContainers[i]) {
				return
			}
		}
		for i := range s.Containers {
			if !yield(p.Child("containers").Index(i), &s.Containers[i]) {
				return
			}
		}
		for i := range s.EphemeralContainers {
			if !yield(p.Child("ephemeralContainers").Index(i), (*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon)) {
				return
			}
		}
	}
}
