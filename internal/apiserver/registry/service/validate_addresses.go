package service

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// validateAddresses validates the cluster IPs. Those that are valid are checked against the range when they are given out.
func validateAddresses(s *corev1.ServiceSpec, p *field.Path) field.ErrorList {
	if isExternalName(s) {
		return nil
	}
	errs := validateFamilies(s, p)
	ips := p.Child("clusterIPs")
	switch {
	case s.ClusterIP == "" && len(s.ClusterIPs) > 0:
		errs = append(errs, field.Invalid(ips, s.ClusterIPs, "must be empty where clusterIP is"))
	case s.ClusterIP != "" && len(s.ClusterIPs) == 0:
		errs = append(errs, field.Required(ips, "must have the clusterIP"))
	case s.ClusterIP != "" && s.ClusterIPs[0] != s.ClusterIP:
		errs = append(errs, field.Invalid(ips, s.ClusterIPs, "must begin with the clusterIP"))
	}
	if len(s.ClusterIPs) > 1 && s.ClusterIPs[0] == corev1.ClusterIPNone {
		errs = append(errs, field.Invalid(ips, s.ClusterIPs, "None must be the only value"))
	}
	invalid := validateEach(s.ClusterIPs, ips)
	if len(invalid) == 0 && len(s.ClusterIPs) > 1 && s.ClusterIPs[0] != corev1.ClusterIPNone {
		errs = append(errs, field.Invalid(ips, s.ClusterIPs, "must be one address: there is only IPv4 here"))
	}
	return append(errs, invalid...)
}

func validateEach(addresses []string, p *field.Path) (errs field.ErrorList) {
	for i, text := range addresses {
		if text == corev1.ClusterIPNone && i == 0 {
			continue
		}
		switch addr, err := netip.ParseAddr(text); {
		case err != nil:
			errs = append(errs, field.Invalid(p.Index(i), text, "must be an IP address, such as 10.96.0.7"))
		case !addr.Is4():
			errs = append(errs, field.Invalid(p.Index(i), text, "must be an IPv4 address: there are no others here"))
		}
	}
	return errs
}

func validateFamilies(s *corev1.ServiceSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	families := p.Child("ipFamilies")
	for i, f := range s.IPFamilies {
		switch {
		case slices.Contains(s.IPFamilies[:i], f):
			errs = append(errs, field.Duplicate(families.Index(i), f))
		case f == corev1.IPv6Protocol && !bothFamilies(s):
			errs = append(errs, field.Invalid(families.Index(i), f, "there is only IPv4 here: use it, or leave the field out"))
		default:
			errs = append(errs, check.Supported(f, families.Index(i), corev1.IPv4Protocol, corev1.IPv6Protocol)...)
		}
	}
	if s.IPFamilyPolicy == nil {
		return errs
	}
	policy := p.Child("ipFamilyPolicy")
	if *s.IPFamilyPolicy == corev1.IPFamilyPolicyRequireDualStack && !bothFamilies(s) {
		return append(errs, field.Invalid(policy, *s.IPFamilyPolicy, "there is only IPv4 here: use SingleStack or PreferDualStack"))
	}
	return append(errs, check.Supported(*s.IPFamilyPolicy, policy, corev1.IPFamilyPolicySingleStack,
		corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack)...)
}

// bothFamilies reports whether users give a Service its endpoints themselves, which may be of any family.
func bothFamilies(s *corev1.ServiceSpec) bool { return IsHeadless(s) && len(s.Selector) == 0 }
