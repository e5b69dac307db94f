package registry

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// validatePodSpec judges what pods and templates have in common, whatever the node can do.
func validatePodSpec(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	volumes, errs := validateVolumes(s.Volumes, p.Child("volumes"))
	errs = append(errs, validateContainers(s, volumes, p)...)
	errs = append(errs, among(s.RestartPolicy, p.Child("restartPolicy"),
		corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	errs = append(errs, validateDeadline(s, p.Child("activeDeadlineSeconds"))...)
	errs = append(errs, validatePodSecurity(s, p)...)
	errs = append(errs, validateNetwork(s, p)...)
	errs = append(errs, validateScheduling(s, p)...)
	errs = append(errs, validatePodResources(s, p)...)
	return append(errs, validateReferences(s, p)...)
}

func validateDeadline(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	if d := s.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		return field.ErrorList{field.Invalid(p, *d, validation.InclusiveRangeError(1, math.MaxInt32))}
	}
	return nil
}

// validateReferences checks the names of other objects that a pod refers to.
func validateReferences(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, ref := range []struct{ field, name string }{
		{"serviceAccountName", s.ServiceAccountName},
		{"nodeName", s.NodeName},
		{"priorityClassName", s.PriorityClassName},
		{"runtimeClassName", ptr.Deref(s.RuntimeClassName, "")},
	} {
		if ref.name != "" {
			errs = append(errs, subdomain(ref.name, p.Child(ref.field))...)
		}
	}
	if s.OS != nil {
		errs = append(errs, among(s.OS.Name, p.Child("os", "name"), corev1.Linux, corev1.Windows)...)
	}
	if s.PreemptionPolicy != nil {
		errs = append(errs, among(*s.PreemptionPolicy, p.Child("preemptionPolicy"), corev1.PreemptLowerPriority, corev1.PreemptNever)...)
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
	}
	return errs
}

// uniqueLabel wants a name to be there, to be a DNS label, and to be the first of its kind; it adds it to seen.
func uniqueLabel(name string, seen sets.Set[string], p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	var errs field.ErrorList
	for _, msg := range validation.IsDNS1123Label(name) {
		errs = append(errs, field.Invalid(p, name, msg))
	}
	if seen.Has(name) {
		errs = append(errs, field.Duplicate(p, name))
	}
	seen.Insert(name)
	return errs
}

func subdomain(name string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, msg := range apivalidation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, field.Invalid(p, name, msg))
	}
	return errs
}

// among wants v to be one of the known values.
func among[T ~string](v T, p *field.Path, known ...T) field.ErrorList {
	if slices.Contains(known, v) {
		return nil
	}
	if v == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	return field.ErrorList{field.NotSupported(p, v, known)}
}

// warnPodSpec tells what of a valid spec is probably not what its author meant.
func warnPodSpec(s *corev1.PodSpec, p *field.Path) []string {
	var warnings []string
	if g := s.TerminationGracePeriodSeconds; g != nil && *g < 0 {
		warnings = append(warnings, fmt.Sprintf("%s: must be >= 0; a negative value is treated as 1", p.Child("terminationGracePeriodSeconds")))
	}
	for i := range s.ImagePullSecrets {
		if s.ImagePullSecrets[i].Name == "" {
			warnings = append(warnings, fmt.Sprintf("%s: names no secret: give it a name or remove it", p.Child("imagePullSecrets").Index(i).Child("name")))
		}
	}
	for i := range s.InitContainers {
		warnings = append(warnings, warnContainer(&s.InitContainers[i], p.Child("initContainers").Index(i))...)
	}
	for i := range s.Containers {
		warnings = append(warnings, warnContainer(&s.Containers[i], p.Child("containers").Index(i))...)
	}
	return warnings
}

func warnContainer(c *corev1.Container, p *field.Path) []string {
	var warnings []string
	seen := sets.New[string]()
	for i, e := range c.Env {
		if seen.Has(e.Name) && !refersTo(e.Value, e.Name) {
			warnings = append(warnings, fmt.Sprintf("%s: hides the earlier definition of %q, which apply may drop", p.Child("env").Index(i), e.Name))
		}
		seen.Insert(e.Name)
	}
	for name, q := range c.Resources.Limits {
		warnings = append(warnings, warnFraction(name, q, p.Child("resources", "limits"))...)
	}
	for name, q := range c.Resources.Requests {
		warnings = append(warnings, warnFraction(name, q, p.Child("resources", "requests"))...)
	}
	slices.Sort(warnings)
	return warnings
}

// warnFraction catches memory given in thousandths of a byte: "100m" for "100Mi".
func warnFraction(name corev1.ResourceName, q resource.Quantity, p *field.Path) []string {
	if name != corev1.ResourceMemory && name != corev1.ResourceEphemeralStorage || whole(q) {
		return nil
	}
	return []string{fmt.Sprintf("%s: is a fraction of a byte: use a whole number, with a suffix such as Mi", p.Key(string(name)))}
}
