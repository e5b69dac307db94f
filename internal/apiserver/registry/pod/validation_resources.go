package pod

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
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// nameRule validates the name of a resource. The rules for containers and pods differ.
type nameRule func(name string, p *field.Path) field.ErrorList

// validateResources validates the requests and limits of a container or a pod.
func validateResources(r *corev1.ResourceRequirements, names nameRule, p *field.Path) field.ErrorList {
	errs := validateQuantities(r.Limits, names, p.Child("limits"))
	errs = append(errs, validateQuantities(r.Requests, names, p.Child("requests"))...)
	for _, key := range slices.Sorted(resourceNames(r.Requests)) {
		name := corev1.ResourceName(key)
		request := r.Requests[name]
		limit, limited := r.Limits[name]
		switch {
		case !limited && !overcommits(name):
			errs = append(errs, field.Required(p.Child("limits"), fmt.Sprintf("must be set for %s: what is requested of it cannot be shared", name)))
		case limited && !overcommits(name) && request.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(p.Child("requests"), request.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case limited && request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(p.Child("requests"), request.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	return append(errs, validatePages(r, p)...)
}

// validatePages refuses huge pages without cpu or memory.
func validatePages(r *corev1.ResourceRequirements, p *field.Path) field.ErrorList {
	if usesHugePages(r) && !usesCPUOrMemory(r) {
		return field.ErrorList{field.Forbidden(p, "HugePages require cpu or memory")}
	}
	return nil
}

func validateQuantities(list corev1.ResourceList, names nameRule, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(resourceNames(list)) {
		name, at := corev1.ResourceName(key), p.Key(key)
		errs = append(errs, names(key, at)...)
		quantity := list[name]
		if quantity.Sign() < 0 {
			errs = append(errs, field.Invalid(at, quantity.String(), apivalidation.IsNegativeErrorMsg))
		}
		if requiresInteger(name) && !whole(quantity) {
			errs = append(errs, field.Invalid(at, quantity.String(), "must be an integer"))
		}
		if hugePages(name) && !wholePages(name, quantity) {
			errs = append(errs, field.Invalid(at, quantity.String(), "must be a multiple of the page size"))
		}
	}
	return errs
}

// whole reports whether a quantity is an integer, of any size.
func whole(q resource.Quantity) bool {
	rounded := q.DeepCopy()
	return rounded.RoundUp(0)
}

// wholePages reports whether a quantity of huge pages is a multiple of their size, which is in the resource's name.
func wholePages(name corev1.ResourceName, q resource.Quantity) bool {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	return err == nil && size.Sign() > 0 && whole(size) && q.Value()%size.Value() == 0
}

func validateContainerResource(name string, p *field.Path) field.ErrorList {
	errs := check.Invalid(p, name, validation.IsQualifiedName(name))
	switch r := corev1.ResourceName(name); {
	case len(errs) > 0:
	case !strings.Contains(name, "/") && !standard(r):
		errs = append(errs, field.Invalid(p, name, "must be a standard resource type (cpu, memory, ephemeral-storage, hugepages-<size>) or fully qualified"))
	case !native(r) && !extended(r):
		errs = append(errs, field.Invalid(p, name, "doesn't follow extended resource name standard"))
	}
	return errs
}

// podResources are the pod-level resources, in addition to huge pages.
var podResources = []string{string(corev1.ResourceCPU), string(corev1.ResourceMemory)}

func ofPods(name corev1.ResourceName) bool {
	return slices.Contains(podResources, string(name)) || hugePages(name)
}

func validatePodResource(name string, p *field.Path) field.ErrorList {
	if ofPods(corev1.ResourceName(name)) {
		return nil
	}
	return field.ErrorList{field.NotSupported(p, name, append(slices.Clone(podResources), corev1.ResourceHugePagesPrefix+"<size>"))}
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

// overcommits reports whether the limit of a resource may be greater than the request. It may not for devices and huge
// pages, which cannot be shared.
func overcommits(name corev1.ResourceName) bool { return native(name) && !hugePages(name) }

// requiresInteger reports whether quantities of a resource must be integers, as for devices.
func requiresInteger(name corev1.ResourceName) bool { return !native(name) && extended(name) }

// native reports whether a resource is Kubernetes' own: without a domain or with that of Kubernetes.
func native(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// extended reports whether a name is valid for an extended resource: it must also be valid with the prefix of quotas.
func extended(name corev1.ResourceName) bool {
	const prefix = corev1.DefaultResourceRequestsPrefix
	return !strings.HasPrefix(string(name), prefix) && len(validation.IsQualifiedName(prefix+string(name))) == 0
}

func usesHugePages(r *corev1.ResourceRequirements) bool { return uses(r, hugePages) }

func usesCPUOrMemory(r *corev1.ResourceRequirements) bool {
	return uses(r, func(name corev1.ResourceName) bool {
		return name == corev1.ResourceCPU || name == corev1.ResourceMemory
	})
}

func uses(r *corev1.ResourceRequirements, which func(corev1.ResourceName) bool) bool {
	for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
		for name := range list {
			if which(name) {
				return true
			}
		}
	}
	return false
}

// validatePodResources validates the overhead and the pod-level resources.
func validatePodResources(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	errs := validateQuantities(s.Overhead, validateContainerResource, p.Child("overhead"))
	errs = append(errs, validatePages(&corev1.ResourceRequirements{Limits: s.Overhead}, p.Child("overhead"))...)
	at := p.Child("resources")
	switch {
	case s.Resources == nil:
		return errs
	case isWindows(s):
		return append(errs, field.Forbidden(at, notOnWindows))
	}
	errs = append(errs, validateResources(s.Resources, validatePodResource, at)...)
	if s.Resources.Claims != nil {
		errs = append(errs, field.Forbidden(at.Child("claims"), "claims cannot be set for resources at pod-level: set them on a container"))
	}
	return append(errs, validateShares(s, at)...)
}

// validateShares requires that pod-level requests are not less than the sum of the containers' requests, and pod-level
// limits not less than the limit of each container.
func validateShares(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	pod := &corev1.Pod{Spec: *s}
	requested := resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{})
	errs := requireAtLeast(s.Resources.Requests, requested, p.Child("requests"), "must be greater than or equal to aggregate container requests of %s")
	pages := resourcehelper.AggregateContainerLimits(pod, resourcehelper.PodResourcesOptions{})
	for name := range pages {
		if !hugePages(name) {
			delete(pages, name)
		}
	}
	errs = append(errs, requireAtLeast(s.Resources.Limits, pages, p.Child("limits"), "must be greater than or equal to aggregate container limits of %s")...)
	for i := range s.Containers {
		for _, key := range slices.Sorted(resourceNames(s.Containers[i].Resources.Limits)) {
			limit := s.Containers[i].Resources.Limits[corev1.ResourceName(key)]
			if most, set := s.Resources.Limits[corev1.ResourceName(key)]; set && limit.Cmp(most) > 0 {
				errs = append(errs, field.Invalid(p.Child("limits").Key(key), most.String(),
					fmt.Sprintf("must be greater than or equal to the limit of container %q, %s", s.Containers[i].Name, limit.String())))
			}
		}
	}
	return errs
}

// requireAtLeast requires that no quantity in list is less than that in used.
func requireAtLeast(list, used corev1.ResourceList, p *field.Path, message string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(resourceNames(list)) {
		have, need := list[corev1.ResourceName(key)], used[corev1.ResourceName(key)]
		if need.Cmp(have) > 0 {
			errs = append(errs, field.Invalid(p.Key(key), have.String(), fmt.Sprintf(message, need.String())))
		}
	}
	return errs
}

// validateClaimsOf requires that a container's claims are claims of its pod, without duplicates. A claim without a
// request includes all requests of the claim.
func validateClaimsOf(c container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen, parts := sets.New[corev1.ResourceClaim](), sets.New[string]()
	for i, claim := range c.Resources.Claims {
		at, whole := p.Index(i), corev1.ResourceClaim{Name: claim.Name}
		known := slices.ContainsFunc(c.pod.ResourceClaims, func(r corev1.PodResourceClaim) bool { return r.Name == claim.Name })
		if claim.Name == "" {
			errs = append(errs, field.Required(at, "must be set"))
			continue
		}
		if seen.Has(claim) || seen.Has(whole) || claim == whole && parts.Has(claim.Name) {
			errs = append(errs, field.Duplicate(at, claim.Name))
		}
		if claim.Request != "" && !seen.Has(whole) {
			errs = append(errs, check.Label(claim.Request, at.Child("request"))...)
			parts.Insert(claim.Name)
		}
		seen.Insert(claim)
		if !known {
			missing := field.NotFound(at, claim.Name)
			missing.Detail = "the pod has no claim of this name in resourceClaims"
			errs = append(errs, missing)
		}
	}
	return errs
}

func validateResizePolicy(c container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[corev1.ResourceName]()
	for i, policy := range c.ResizePolicy {
		errs = append(errs, check.Among(policy.ResourceName, p, corev1.ResourceCPU, corev1.ResourceMemory)...)
		errs = append(errs, check.Among(policy.RestartPolicy, p, corev1.NotRequired, corev1.RestartContainer)...)
		if c.pod.RestartPolicy == corev1.RestartPolicyNever && policy.RestartPolicy != corev1.NotRequired {
			errs = append(errs, field.Invalid(p, policy.RestartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
		}
		if c.init && !isSidecar(c.Container) && policy.RestartPolicy == corev1.RestartContainer {
			errs = append(errs, field.Invalid(p.Index(i).Child("restartPolicy"), policy.RestartPolicy,
				"must not be 'RestartContainer' for init containers that are not sidecars"))
		}
		if seen.Has(policy.ResourceName) {
			errs = append(errs, field.Duplicate(p.Index(i), policy.ResourceName))
		}
		seen.Insert(policy.ResourceName)
	}
	return errs
}
