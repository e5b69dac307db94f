// Package services says where the addresses of Services lead to, for the pods that have a network.
package services

import (
	"cmp"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/network/names"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// Domain is that of the names of Services.
const Domain = "cluster.local"

// Of returns what the runtime is to know of Services whose addresses are in a range. The order follows from their names.
func Of(within netip.Prefix, services []*corev1.Service, endpoints []*discoveryv1.EndpointSlice) runtime.Services {
	services, endpoints = slices.Clone(services), slices.Clone(endpoints)
	slices.SortFunc(services, func(a, b *corev1.Service) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(endpoints, func(a, b *discoveryv1.EndpointSlice) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	behind := map[types.NamespacedName][]*discoveryv1.EndpointSlice{}
	for _, s := range endpoints {
		if s.AddressType == discoveryv1.AddressTypeIPv4 {
			of := types.NamespacedName{Namespace: s.Namespace, Name: s.Labels[discoveryv1.LabelServiceName]}
			behind[of] = append(behind[of], s)
		}
	}
	all := runtime.Services{Range: within, Names: names.Of(Domain, services, endpoints)}
	for _, svc := range services {
		all.Ports = append(all.Ports, portsOf(svc, behind[types.NamespacedName{Namespace: svc.Namespace, Name: svc.Name}])...)
	}
	return all
}

var protocols = map[corev1.Protocol]runtime.Protocol{corev1.ProtocolTCP: runtime.TCP, corev1.ProtocolUDP: runtime.UDP}

// portsOf returns the ports of a Service, none if it has no address.
func portsOf(svc *corev1.Service, endpoints []*discoveryv1.EndpointSlice) []runtime.ServicePort {
	addr, err := netip.ParseAddr(svc.Spec.ClusterIP)
	if err != nil || svc.Spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	var ports []runtime.ServicePort
	for _, p := range svc.Spec.Ports {
		protocol, is := protocols[p.Protocol]
		if !is {
			continue
		}
		port := runtime.ServicePort{
			Address:  netip.AddrPortFrom(addr, uint16(p.Port)),
			Protocol: protocol,
			Backends: backends(p.Name, p.Protocol, endpoints),
			Sticky:   svc.Spec.SessionAffinity == corev1.ServiceAffinityClientIP,
		}
		if protocol == runtime.TCP && svc.Spec.Type == corev1.ServiceTypeNodePort {
			port.NodePort = uint16(p.NodePort)
		}
		ports = append(ports, port)
	}
	return ports
}

// backends returns the endpoints of a port that are ready. If none is, those that still serve while they end are better than
// nothing.
func backends(port string, protocol corev1.Protocol, endpoints []*discoveryv1.EndpointSlice) []netip.AddrPort {
	var ready, ending []netip.AddrPort
	for _, s := range endpoints {
		for _, p := range s.Ports {
			if ptr.Deref(p.Name, "") != port || ptr.Deref(p.Protocol, corev1.ProtocolTCP) != protocol || !isPort(p.Port) {
				continue
			}
			for _, e := range s.Endpoints {
				addr, err := netip.ParseAddr(e.Addresses[0])
				switch {
				case err != nil:
				case ptr.Deref(e.Conditions.Ready, true):
					ready = append(ready, netip.AddrPortFrom(addr, uint16(*p.Port)))
				case ptr.Deref(e.Conditions.Serving, true) && ptr.Deref(e.Conditions.Terminating, false):
					ending = append(ending, netip.AddrPortFrom(addr, uint16(*p.Port)))
				}
			}
		}
	}
	if len(ready) == 0 {
		ready = ending
	}
	slices.SortFunc(ready, netip.AddrPort.Compare)
	return slices.Compact(ready)
}

// isPort reports whether a port of an EndpointSlice is one: the API takes any number.
func isPort(number *int32) bool {
	return number != nil && len(validation.IsValidPortNum(int(*number))) == 0
}
