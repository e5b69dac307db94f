package registry

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateResources judges requests and limits of a container.
func validateResources(r *corev1.ResourceRequirements, p *field.Path) field.ErrorList {
	errs := validateQuantities(r.Limits, p.Child("limits"))
	errs = append(errs, validateQuantities(r.Requests, p.Child("requests"))...)
	for _, key := range slices.Sorted(resourceNames(r.Requests)) {
		name := corev1.ResourceName(key)
		request := r.Requests[name]
		limit, limited := r.Limits[name]
		at := p.Child("requests").Key(key)
		switch {
		case !limited && !overcommits(name):
			errs = append(errs, field.Required(p.Child("limits").Key(key), "must be set: what is requested of this resource cannot be shared"))
		case limited && !overcommits(name) && request.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(at, request.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case limited && request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(at, request.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	if usesHugePages(r) && !usesCPUOrMemory(r) {
		errs = append(errs, field.Forbidden(p, "HugePages require cpu or memory"))
	}
	return errs
}

func validateQuantities(list corev1.ResourceList, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(resourceNames(list)) {
		name, at := corev1.ResourceName(key), p.Key(key)
		errs = append(errs, validateResourceName(key, at)...)
		quantity := list[name]
		if quantity.Sign() < 0 {
			errs = append(errs, field.Invalid(at, quantity.String(), apivalidation.IsNegativeErrorMsg))
		}
		if !fractional(name) && !whole(quantity) {
			errs = append(errs, field.Invalid(at, quantity.String(), "must be an integer"))
		}
	}
	return errs
}

// whole tells whether an amount is a whole number, however large.
func whole(q resource.Quantity) bool {
	rounded := q.DeepCopy()
	return rounded.RoundUp(0)
}

func validateResourceName(name string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, msg := range validation.IsQualifiedName(name) {
		errs = append(errs, field.Invalid(p, name, msg))
	}
	if len(errs) == 0 && !strings.Contains(name, "/") && !standard(corev1.ResourceName(name)) {
		errs = append(errs, field.Invalid(p, name, "must be a standard resource type (cpu, memory, ephemeral-storage, hugepages-<size>) or fully qualified"))
	}
	return errs
}

func standard(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	}
	return hugePages(name)
}

func hugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// overcommits tells whether more of a resource may be limited than is requested. Devices and huge pages belong to
// one container alone.
func overcommits(name corev1.ResourceName) bool {
	return (standard(name) && !hugePages(name)) || native(name)
}

// fractional tells whether a resource may be had in parts; devices come in whole ones.
func fractional(name corev1.ResourceName) bool { return standard(name) || native(name) }

func native(name corev1.ResourceName) bool {
	return strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

func usesHugePages(r *corev1.ResourceRequirements) bool {
	for name := range r.Limits {
		if hugePages(name) {
			return true
		}
	}
	return false
}

func usesCPUOrMemory(r *corev1.ResourceRequirements) bool {
	for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if _, ok := list[name]; ok {
				return true
			}
		}
	}
	return false
}

// validatePodResources judges what is asked for the pod as a whole.
func validatePodResources(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	errs := validateQuantities(s.Overhead, p.Child("overhead"))
	if s.Resources == nil {
		return errs
	}
	at := p.Child("resources")
	errs = append(errs, validateResources(s.Resources, at)...)
	if len(s.Resources.Claims) > 0 {
		errs = append(errs, field.Forbidden(at.Child("claims"), "claims cannot be set for resources at pod-level: set them on a container"))
	}
	for _, part := range []struct {
		field string
		list  corev1.ResourceList
	}{{"limits", s.Resources.Limits}, {"requests", s.Resources.Requests}} {
		for _, key := range slices.Sorted(resourceNames(part.list)) {
			if name := corev1.ResourceName(key); name != corev1.ResourceCPU && name != corev1.ResourceMemory && !hugePages(name) {
				errs = append(errs, field.NotSupported(at.Child(part.field).Key(key), key, []string{"cpu", "memory", "hugepages-<size>"}))
			}
		}
	}
	return errs
}

// validateClaimsOf checks that a container's claims are claims of its pod.
func validateClaimsOf(c container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, claim := range c.Resources.Claims {
		known := slices.ContainsFunc(c.pod.ResourceClaims, func(r corev1.PodResourceClaim) bool { return r.Name == claim.Name })
		switch {
		case claim.Name == "":
			errs = append(errs, field.Required(p.Index(i).Child("name"), "must be set"))
		case !known:
			missing := field.NotFound(p.Index(i).Child("name"), claim.Name)
			missing.Detail = "the pod has no claim of this name in resourceClaims"
			errs = append(errs, missing)
		}
	}
	return errs
}

func validateResizePolicy(policies []corev1.ContainerResizePolicy, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[corev1.ResourceName]()
	for i, policy := range policies {
		errs = append(errs, among(policy.ResourceName, p.Index(i).Child("resourceName"), corev1.ResourceCPU, corev1.ResourceMemory)...)
		errs = append(errs, among(policy.RestartPolicy, p.Index(i).Child("restartPolicy"), corev1.NotRequired, corev1.RestartContainer)...)
		if seen.Has(policy.ResourceName) {
			errs = append(errs, field.Duplicate(p.Index(i), policy.ResourceName))
		}
		seen.Insert(policy.ResourceName)
	}
	return errs
}

// divisors are the units that a resource may be told in.
var divisors = map[string][]string{
	"cpu":    {"1m", "1"},
	"memory": {"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"},
}

func validateResourceFieldRef(r *corev1.ResourceFieldSelector, p *field.Path) field.ErrorList {
	at := p.Child("resource")
	if r.Resource == "" {
		return field.ErrorList{field.Required(at, "must be set")}
	}
	kind, name, _ := strings.Cut(r.Resource, ".")
	if (kind != "limits" && kind != "requests") || !standard(corev1.ResourceName(name)) {
		return field.ErrorList{field.NotSupported(at, r.Resource, []string{
			"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory",
		})}
	}
	known := divisors["memory"]
	if name == "cpu" {
		known = divisors["cpu"]
	}
	fits := func(unit string) bool { return r.Divisor.Cmp(resource.MustParse(unit)) == 0 }
	if r.Divisor.IsZero() || slices.ContainsFunc(known, fits) {
		return nil
	}
	return field.ErrorList{field.Invalid(p.Child("divisor"), r.Divisor.String(), "only divisor's values "+strings.Join(known, ", ")+" are supported with "+name)}
}
