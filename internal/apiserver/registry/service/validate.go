package service

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// maxAffinitySeconds is a day.
const maxAffinitySeconds = 86400

func validate(svc *corev1.Service) field.ErrorList {
	s, p := &svc.Spec, field.NewPath("spec")
	errs := validateType(s, p)
	errs = append(errs, validatePorts(s, p.Child("ports"))...)
	if s.Selector != nil {
		errs = append(errs, metav1validation.ValidateLabels(s.Selector, p.Child("selector"))...)
	}
	errs = append(errs, validateAffinity(s, p)...)
	errs = append(errs, validateAddresses(s, p)...)
	errs = append(errs, validateTraffic(s, p)...)
	return append(errs, refuse(s, p)...)
}

func validateType(s *corev1.ServiceSpec, p *field.Path) field.ErrorList {
	switch s.Type {
	case corev1.ServiceTypeClusterIP:
		return nil
	case corev1.ServiceTypeNodePort:
		if IsHeadless(s) {
			return field.ErrorList{field.Invalid(p.Child("clusterIPs").Index(0), corev1.ClusterIPNone, "may not be None for a Service with node ports")}
		}
		return nil
	case corev1.ServiceTypeExternalName:
		return validateExternalName(s, p)
	case corev1.ServiceTypeLoadBalancer:
		return field.ErrorList{field.Forbidden(p.Child("type"), "there are no load balancers here: use NodePort for clients on this machine, else ClusterIP")}
	}
	return check.Supported(s.Type, p.Child("type"), corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeExternalName)
}

// validateExternalName validates a Service that is another name. It has no address, so it has nothing about addresses.
func validateExternalName(s *corev1.ServiceSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, f := range []struct {
		name string
		set  bool
	}{{"clusterIPs", len(s.ClusterIPs) > 0}, {"ipFamilies", len(s.IPFamilies) > 0}, {"ipFamilyPolicy", s.IPFamilyPolicy != nil}} {
		if f.set {
			errs = append(errs, field.Forbidden(p.Child(f.name), "a Service of type ExternalName has no address: remove it"))
		}
	}
	name := p.Child("externalName")
	if s.ExternalName == "" || s.ExternalName == "." {
		return append(errs, field.Required(name, "must be the name that this Service stands for"))
	}
	return append(errs, check.Invalid(name, s.ExternalName, validation.IsDNS1123Subdomain(strings.TrimSuffix(s.ExternalName, ".")))...)
}

func validateAffinity(s *corev1.ServiceSpec, p *field.Path) field.ErrorList {
	errs := check.Among(s.SessionAffinity, p.Child("sessionAffinity"), corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)
	config := p.Child("sessionAffinityConfig")
	switch {
	case s.SessionAffinity == corev1.ServiceAffinityNone && s.SessionAffinityConfig != nil:
		errs = append(errs, field.Forbidden(config, "is only for the sessionAffinity ClientIP"))
	case s.SessionAffinity == corev1.ServiceAffinityClientIP:
		c := ptr.Deref(s.SessionAffinityConfig, corev1.SessionAffinityConfig{}).ClientIP
		seconds := config.Child("clientIP", "timeoutSeconds")
		switch {
		case c == nil || c.TimeoutSeconds == nil:
			errs = append(errs, field.Required(seconds, "must be set"))
		case *c.TimeoutSeconds <= 0 || *c.TimeoutSeconds > maxAffinitySeconds:
			errs = append(errs, field.Invalid(seconds, *c.TimeoutSeconds, fmt.Sprintf("must be from 1 to %d", maxAffinitySeconds)))
		case *c.TimeoutSeconds != corev1.DefaultClientIPServiceAffinitySeconds:
			errs = append(errs, field.Forbidden(seconds, "is not followed here: leave it out; a pod stays with a backend as long as the Service has the same ones"))
		}
	}
	return errs
}

func validateTraffic(s *corev1.ServiceSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	external := p.Child("externalTrafficPolicy")
	switch {
	case hasNodePorts(s):
		errs = append(errs, check.OneOf(s.ExternalTrafficPolicy, external, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)...)
	case s.ExternalTrafficPolicy != "":
		errs = append(errs, field.Invalid(external, s.ExternalTrafficPolicy, "is only for Services of type NodePort"))
	}
	internal := p.Child("internalTrafficPolicy")
	switch {
	case s.InternalTrafficPolicy != nil:
		errs = append(errs, check.Supported(*s.InternalTrafficPolicy, internal, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)...)
	case !isExternalName(s):
		errs = append(errs, field.Required(internal, "must be set"))
	}
	if d := s.TrafficDistribution; d != nil {
		errs = append(errs, check.Supported(*d, p.Child("trafficDistribution"), corev1.ServiceTrafficDistributionPreferClose,
			corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode)...)
	}
	return errs
}

const onlyForLoadBalancers = "is only for load balancers, of which there are none here: remove it"

// refuse refuses what would have no effect here, or is only for load balancers.
func refuse(s *corev1.ServiceSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.ExternalIPs) > 0 {
		errs = append(errs, field.Forbidden(p.Child("externalIPs"), "nothing listens on other addresses here: remove it, and use the type NodePort for clients on this machine"))
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"loadBalancerClass", s.LoadBalancerClass != nil},
		{"loadBalancerSourceRanges", len(s.LoadBalancerSourceRanges) > 0},
		{"allocateLoadBalancerNodePorts", s.AllocateLoadBalancerNodePorts != nil},
	} {
		if f.set && s.Type != corev1.ServiceTypeLoadBalancer {
			errs = append(errs, field.Forbidden(p.Child(f.name), onlyForLoadBalancers))
		}
	}
	if s.HealthCheckNodePort != 0 && s.Type != corev1.ServiceTypeLoadBalancer {
		errs = append(errs, field.Invalid(p.Child("healthCheckNodePort"), s.HealthCheckNodePort, onlyForLoadBalancers))
	}
	return errs
}
