package registry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

const (
	maxNameservers      = 3
	maxSearches         = 32
	maxHostnameOverride = 64
)

// validateNetwork judges host names and how others' names are found.
func validateNetwork(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	errs := validateHostnames(s, p)
	for i, alias := range s.HostAliases {
		at := p.Child("hostAliases").Index(i)
		errs = append(errs, validation.IsValidIP(at.Child("ip"), alias.IP)...)
		for j, name := range alias.Hostnames {
			errs = append(errs, subdomain(name, at.Child("hostnames").Index(j))...)
		}
	}
	errs = append(errs, among(s.DNSPolicy, p.Child("dnsPolicy"),
		corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)...)
	if s.DNSPolicy == corev1.DNSNone && (s.DNSConfig == nil || len(s.DNSConfig.Nameservers) == 0) {
		errs = append(errs, field.Required(p.Child("dnsConfig", "nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None"))
	}
	if s.DNSConfig != nil {
		errs = append(errs, validateDNS(s.DNSConfig, p.Child("dnsConfig"))...)
	}
	return errs
}

func validateHostnames(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range []struct{ field, value string }{{"hostname", s.Hostname}, {"subdomain", s.Subdomain}} {
		if name.value == "" {
			continue
		}
		for _, msg := range validation.IsDNS1123Label(name.value) {
			errs = append(errs, field.Invalid(p.Child(name.field), name.value, msg))
		}
	}
	if s.HostnameOverride == nil {
		return errs
	}
	at := p.Child("hostnameOverride")
	errs = append(errs, subdomain(*s.HostnameOverride, at)...)
	if len(*s.HostnameOverride) > maxHostnameOverride {
		errs = append(errs, field.TooLong(at, "", maxHostnameOverride))
	}
	if s.HostNetwork {
		errs = append(errs, field.Forbidden(at, "may not be specified when hostNetwork is true"))
	}
	if ptr.Deref(s.SetHostnameAsFQDN, false) {
		errs = append(errs, field.Forbidden(at, "may not be specified when setHostnameAsFQDN is true"))
	}
	return errs
}

func validateDNS(c *corev1.PodDNSConfig, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n := len(c.Nameservers); n > maxNameservers {
		errs = append(errs, field.TooMany(p.Child("nameservers"), n, maxNameservers))
	}
	for i, server := range c.Nameservers {
		errs = append(errs, validation.IsValidIP(p.Child("nameservers").Index(i), server)...)
	}
	if n := len(c.Searches); n > maxSearches {
		errs = append(errs, field.TooMany(p.Child("searches"), n, maxSearches))
	}
	for i, option := range c.Options {
		errs = append(errs, requireName(option.Name, p.Child("options").Index(i).Child("name"))...)
	}
	return errs
}
