package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubectl/pkg/util/qos"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// prepareForStatusUpdate restores the fields that a status update may not change. It may change labels, annotations and
// finalizers, as in Kubernetes.
func prepareForStatusUpdate(pod, old *corev1.Pod) {
	pod.Spec = old.Spec
	pod.OwnerReferences = old.OwnerReferences
	pod.Generation = old.Generation
	pod.DeletionTimestamp = old.DeletionTimestamp
	pod.DeletionGracePeriodSeconds = old.DeletionGracePeriodSeconds
	setDefault(&pod.Status.QOSClass, old.Status.QOSClass)
	setDefault(&pod.Status.QOSClass, qos.GetPodQOS(old))
	keepGenerations(&pod.Status, &old.Status)
	pairAddresses(&pod.Status)
}

// keepGenerations restores observed generations, because old clients do not send them.
func keepGenerations(now, was *corev1.PodStatus) {
	setDefault(&now.ObservedGeneration, was.ObservedGeneration)
	for i := range now.Conditions {
		c := &now.Conditions[i]
		if j := slices.IndexFunc(was.Conditions, func(old corev1.PodCondition) bool { return old.Type == c.Type }); j >= 0 {
			setDefault(&c.ObservedGeneration, was.Conditions[j].ObservedGeneration)
		}
	}
}

// pairAddresses makes podIP and the first of podIPs equal, if the client has set only one of them.
func pairAddresses(s *corev1.PodStatus) {
	switch {
	case s.PodIP == "" && len(s.PodIPs) > 0:
		s.PodIP = s.PodIPs[0].IP
	case s.PodIP != "" && (len(s.PodIPs) == 0 || s.PodIPs[0].IP != s.PodIP):
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	}
}

func validateStatusUpdate(pod, old *corev1.Pod) field.ErrorList {
	errs := validateAnnotationUpdate(pod, old)
	errs = append(errs, validateIndexUpdate(pod, old)...)
	p := field.NewPath("status")
	now, was := &pod.Status, &old.Status
	if was.QOSClass != "" && now.QOSClass != was.QOSClass {
		errs = append(errs, field.Invalid(p.Child("qosClass"), now.QOSClass, "field is immutable"))
	}
	if pod.Spec.NodeName != old.Spec.NodeName {
		errs = append(errs, check.Subdomain(pod.Spec.NodeName, field.NewPath("spec", "nodeName"))...)
	}
	errs = append(errs, validateNomination(pod, old, p.Child("nominatedNodeName"))...)
	errs = append(errs, apivalidation.ValidateNonnegativeField(now.ObservedGeneration, p.Child("observedGeneration"))...)
	errs = append(errs, validateConditions(now.Conditions, p.Child("conditions"))...)
	errs = append(errs, validateAddresses(now, p)...)
	for i, claim := range now.ResourceClaimStatuses {
		if !slices.ContainsFunc(pod.Spec.ResourceClaims, func(c corev1.PodResourceClaim) bool { return c.Name == claim.Name }) {
			errs = append(errs, field.Invalid(p.Child("resourceClaimStatuses").Index(i).Child("name"), claim.Name, "must match the name of an entry in `spec.resourceClaims`"))
		}
	}
	return append(errs, validateContainerStatuses(pod, old, p)...)
}

// validateNomination allows a new nominated node only before the pod is bound.
func validateNomination(pod, old *corev1.Pod, p *field.Path) field.ErrorList {
	name := pod.Status.NominatedNodeName
	if name == "" || name == old.Status.NominatedNodeName {
		return nil
	}
	errs := check.Subdomain(name, p)
	if old.Spec.NodeName != "" {
		errs = append(errs, field.Forbidden(p, "may not be set on pods that are already bound to a node"))
	}
	return errs
}

func validateConditions(conditions []corev1.PodCondition, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, c := range conditions {
		errs = append(errs, apivalidation.ValidateNonnegativeField(c.ObservedGeneration, p.Index(i).Child("observedGeneration"))...)
		errs = append(errs, check.Invalid(p.Index(i).Child("type"), c.Type, validation.IsQualifiedName(string(c.Type)))...)
	}
	return errs
}

// validateAddresses requires at most one address of each IP family.
func validateAddresses(s *corev1.PodStatus, p *field.Path) field.ErrorList {
	var pod, host []string
	for _, a := range s.PodIPs {
		pod = append(pod, a.IP)
	}
	for _, a := range s.HostIPs {
		host = append(host, a.IP)
	}
	errs := validateAddressList(pod, p.Child("podIPs"))
	if len(host) > 0 && host[0] != s.HostIP {
		errs = append(errs, field.Invalid(p.Child("hostIPs").Index(0).Child("ip"), host[0], "must be equal to `hostIP`"))
	}
	return append(errs, validateAddressList(host, p.Child("hostIPs"))...)
}

func validateAddressList(addresses []string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	ofSix := 0
	for i, address := range addresses {
		errs = append(errs, validateIP(address, p.Index(i))...)
		if strings.Contains(address, ":") {
			ofSix++
		}
	}
	if ofSix > 1 || len(addresses)-ofSix > 1 {
		errs = append(errs, field.Invalid(p, addresses, "may specify no more than one IP for each IP family"))
	}
	return errs
}
