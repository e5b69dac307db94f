package pod

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

const (
	maxNameservers      = 3
	maxSearches         = 32
	maxSearchCharacters = 2048
	maxHostnameOverride = 64
)

// validateNetwork validates host names, host aliases and DNS settings.
func validateNetwork(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	errs := validateHostnames(s, p)
	for i, alias := range s.HostAliases {
		at := p.Child("hostAliases").Index(i)
		errs = append(errs, validateIP(alias.IP, at.Child("ip"))...)
		for j, name := range alias.Hostnames {
			errs = append(errs, check.Subdomain(name, at.Child("hostnames").Index(j))...)
		}
	}
	errs = append(errs, check.Among(s.DNSPolicy, p.Child("dnsPolicy"),
		corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)...)
	p = p.Child("dnsConfig")
	switch alone := s.DNSPolicy == corev1.DNSNone; {
	case s.DNSConfig == nil && alone:
		errs = append(errs, field.Required(p, "must provide `dnsConfig` when `dnsPolicy` is None"))
	case s.DNSConfig == nil:
	case len(s.DNSConfig.Nameservers) == 0 && alone:
		errs = append(errs, field.Required(p.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None"))
	default:
		errs = append(errs, validateDNS(s.DNSConfig, p)...)
	}
	return errs
}

func validateHostnames(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range []struct{ field, value string }{{"hostname", s.Hostname}, {"subdomain", s.Subdomain}} {
		if name.value == "" {
			continue
		}
		errs = append(errs, check.Invalid(p.Child(name.field), name.value, validation.IsDNS1123Label(name.value))...)
	}
	if s.HostnameOverride == nil {
		return errs
	}
	at := p.Child("hostnameOverride")
	errs = append(errs, check.Subdomain(*s.HostnameOverride, at)...)
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
	servers, searches := p.Child("nameservers"), p.Child("searches")
	if len(c.Nameservers) > maxNameservers {
		errs = append(errs, field.Invalid(servers, c.Nameservers, fmt.Sprintf("must not have more than %d nameservers", maxNameservers)))
	}
	for i, server := range c.Nameservers {
		errs = append(errs, validateIP(server, servers.Index(i))...)
	}
	if len(c.Searches) > maxSearches {
		errs = append(errs, field.Invalid(searches, c.Searches, fmt.Sprintf("must not have more than %d search paths", maxSearches)))
	}
	if len(strings.Join(c.Searches, " ")) > maxSearchCharacters {
		errs = append(errs, field.Invalid(searches, c.Searches, fmt.Sprintf("must not have more than %d characters, spaces between them included", maxSearchCharacters)))
	}
	for i, search := range c.Searches {
		errs = append(errs, validateSearch(search, searches.Index(i))...)
	}
	for i, option := range c.Options {
		errs = append(errs, requireName(option.Name, p.Child("options").Index(i))...)
	}
	return errs
}

// validateSearch validates a search domain. As resolvers do, it accepts underscores, a dot at the end, and the root.
func validateSearch(search string, p *field.Path) field.ErrorList {
	if search == "." {
		return nil
	}
	return check.Invalid(p, search, validation.IsDNS1123SubdomainWithUnderscore(strings.TrimSuffix(search, ".")))
}

// validateIP requires an unambiguous address: without leading zeros, and no IPv4 address inside an IPv6 address.
func validateIP(ip string, p *field.Path) field.ErrorList {
	const strict = true
	return validation.IsValidIPForLegacyField(p, ip, strict, nil)
}
