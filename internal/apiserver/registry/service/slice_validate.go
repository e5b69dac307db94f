package service

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// What one EndpointSlice can have at most.
const (
	maxEndpoints  = 1000
	maxAddresses  = 100
	maxSlicePorts = 20000
	maxHints      = 8
)

func validateSlice(s *discoveryv1.EndpointSlice) field.ErrorList {
	errs := check.Among(s.AddressType, field.NewPath("addressType"), discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6, discoveryv1.AddressTypeFQDN)
	errs = append(errs, validateEndpoints(s, field.NewPath("endpoints"))...)
	return append(errs, validateSlicePorts(s.Ports, field.NewPath("ports"))...)
}

func validateSliceUpdate(s, was *discoveryv1.EndpointSlice) field.ErrorList {
	errs := validateSlice(s)
	return append(errs, apivalidation.ValidateImmutableField(s.AddressType, was.AddressType, field.NewPath("addressType"))...)
}

func validateEndpoints(s *discoveryv1.EndpointSlice, p *field.Path) field.ErrorList {
	if len(s.Endpoints) > maxEndpoints {
		return field.ErrorList{field.TooMany(p, len(s.Endpoints), maxEndpoints)}
	}
	var errs field.ErrorList
	for i := range s.Endpoints {
		errs = append(errs, validateEndpoint(&s.Endpoints[i], s.AddressType, p.Index(i))...)
	}
	return errs
}

func validateEndpoint(e *discoveryv1.Endpoint, kind discoveryv1.AddressType, p *field.Path) field.ErrorList {
	errs := validateEndpointAddresses(e.Addresses, kind, p.Child("addresses"))
	if e.NodeName != nil {
		errs = append(errs, check.Invalid(p.Child("nodeName"), *e.NodeName, apivalidation.NameIsDNSSubdomain(*e.NodeName, false))...)
	}
	if e.Hostname != nil {
		errs = append(errs, check.Invalid(p.Child("hostname"), *e.Hostname, validation.IsDNS1123Label(*e.Hostname))...)
	}
	if e.Hints == nil {
		return errs
	}
	zones, nodes := make([]string, len(e.Hints.ForZones)), make([]string, len(e.Hints.ForNodes))
	for i, z := range e.Hints.ForZones {
		zones[i] = z.Name
	}
	for i, n := range e.Hints.ForNodes {
		nodes[i] = n.Name
	}
	errs = append(errs, validateHints(zones, p.Child("hints", "forZones"), validation.IsValidLabelValue)...)
	return append(errs, validateHints(nodes, p.Child("hints", "forNodes"), validation.IsDNS1123Subdomain)...)
}

func validateHints(names []string, p *field.Path, faults func(string) []string) field.ErrorList {
	if len(names) > maxHints {
		return field.ErrorList{field.TooMany(p, len(names), maxHints)}
	}
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, name := range names {
		at := p.Index(i).Child("name")
		if seen.Has(name) {
			errs = append(errs, field.Duplicate(at, name))
		}
		seen.Insert(name)
		errs = append(errs, check.Invalid(at, name, faults(name))...)
	}
	return errs
}

func validateEndpointAddresses(addresses []string, kind discoveryv1.AddressType, p *field.Path) field.ErrorList {
	switch {
	case len(addresses) == 0:
		return field.ErrorList{field.Required(p, "must have at least one address")}
	case len(addresses) > maxAddresses:
		return field.ErrorList{field.TooMany(p, len(addresses), maxAddresses)}
	}
	var errs field.ErrorList
	for i, a := range addresses {
		errs = append(errs, validateEndpointAddress(a, kind, p.Index(i))...)
	}
	return errs
}

func validateEndpointAddress(a string, kind discoveryv1.AddressType, p *field.Path) field.ErrorList {
	switch kind {
	case discoveryv1.AddressTypeFQDN:
		return validation.IsFullyQualifiedDomainName(p, a)
	case discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6:
	default:
		return nil
	}
	addr, err := netip.ParseAddr(a)
	switch {
	case err != nil || addr.Is4() != (kind == discoveryv1.AddressTypeIPv4) || addr.Is4In6():
		return field.ErrorList{field.Invalid(p, a, "must be an "+string(kind)+" address")}
	case addr.String() != a:
		return field.ErrorList{field.Invalid(p, a, "must be written "+addr.String())}
	case addr.IsUnspecified() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsLinkLocalMulticast():
		return field.ErrorList{field.Invalid(p, a, "must be an address of one pod or machine: it is unspecified, or of a loopback interface or a link")}
	}
	return nil
}

func validateSlicePorts(ports []discoveryv1.EndpointPort, p *field.Path) field.ErrorList {
	if len(ports) > maxSlicePorts {
		return field.ErrorList{field.TooMany(p, len(ports), maxSlicePorts)}
	}
	var errs field.ErrorList
	names := sets.New[string]()
	for i, port := range ports {
		at := p.Index(i)
		name := ptr.Deref(port.Name, "")
		if name != "" {
			errs = append(errs, check.Invalid(at.Child("name"), name, validation.IsDNS1123Label(name))...)
		}
		if names.Has(name) {
			errs = append(errs, field.Duplicate(at.Child("name"), name))
		}
		names.Insert(name)
		errs = append(errs, check.Supported(ptr.Deref(port.Protocol, ""), at.Child("protocol"), corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)...)
		if port.AppProtocol != nil {
			errs = append(errs, check.Invalid(at.Child("appProtocol"), *port.AppProtocol, validation.IsQualifiedName(*port.AppProtocol))...)
		}
	}
	return errs
}
