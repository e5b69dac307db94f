// Package names says which names pods find by DNS. It follows the DNS specification of Kubernetes:
//
//	Service                 name                                          stands for
//	with a cluster IP       SERVICE.NAMESPACE.svc.DOMAIN                  its cluster IP
//	headless                SERVICE.NAMESPACE.svc.DOMAIN                  all endpoints
//	                        HOSTNAME.SERVICE.NAMESPACE.svc.DOMAIN         the endpoint with that hostname
//	                        10-244-0-5.SERVICE.NAMESPACE.svc.DOMAIN       an endpoint without one
//	of type ExternalName    SERVICE.NAMESPACE.svc.DOMAIN                  another name
//	with a named port       _PORT._PROTOCOL.SERVICE.NAMESPACE.svc.DOMAIN  the port, of the Service or of each endpoint
package names

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Of returns the names of Services and of what is behind them.
func Of(domain string, services []*corev1.Service, endpoints []*discoveryv1.EndpointSlice) runtime.Names {
	n := &names{
		Domain:    domain + ".",
		Addresses: map[string][]netip.Addr{},
		Aliases:   map[string]string{},
		Ports:     map[string][]runtime.NamedPort{},
		Of:        map[netip.Addr]string{},
	}
	behind := map[types.NamespacedName][]*discoveryv1.EndpointSlice{}
	for _, s := range endpoints {
		service := types.NamespacedName{Namespace: s.Namespace, Name: s.Labels[discoveryv1.LabelServiceName]}
		behind[service] = append(behind[service], s)
	}
	for _, s := range services {
		host := strings.ToLower(s.Name + "." + s.Namespace + ".svc." + n.Domain)
		switch {
		case s.Spec.Type == corev1.ServiceTypeExternalName:
			n.Aliases[host] = strings.ToLower(strings.TrimSuffix(s.Spec.ExternalName, ".")) + "."
		case s.Spec.ClusterIP == corev1.ClusterIPNone:
			n.addHeadless(host, behind[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}])
		default:
			n.addClusterIP(host, s)
		}
	}
	return runtime.Names(*n)
}

// names are those that are found so far.
type names runtime.Names

func (n *names) addClusterIP(host string, s *corev1.Service) {
	addr, err := netip.ParseAddr(s.Spec.ClusterIP)
	if err != nil {
		return // It has none yet.
	}
	n.Addresses[host] = []netip.Addr{addr}
	n.Of[addr] = host
	for _, p := range s.Spec.Ports {
		n.addPort(host, p.Name, p.Protocol, host, p.Port)
	}
}

// addHeadless adds the endpoints that are ready. The controller of EndpointSlices calls all of them ready if the Service
// publishes addresses that are not.
func (n *names) addHeadless(host string, all []*discoveryv1.EndpointSlice) {
	for _, slice := range all {
		for _, e := range slice.Endpoints {
			if slice.AddressType == discoveryv1.AddressTypeIPv4 && ptr.Deref(e.Conditions.Ready, true) {
				n.addEndpoint(host, e, slice.Ports)
			}
		}
	}
}

func (n *names) addEndpoint(service string, e discoveryv1.Endpoint, ports []discoveryv1.EndpointPort) {
	for _, text := range e.Addresses {
		addr, err := netip.ParseAddr(text)
		if err != nil || slices.Contains(n.Addresses[service], addr) {
			continue
		}
		label := strings.ReplaceAll(text, ".", "-")
		if name := ptr.Deref(e.Hostname, ""); name != "" {
			label = strings.ToLower(name)
			n.Of[addr] = label + "." + service
		}
		host := label + "." + service
		n.Addresses[service] = append(n.Addresses[service], addr)
		n.Addresses[host] = append(n.Addresses[host], addr)
		for _, p := range ports {
			n.addPort(service, ptr.Deref(p.Name, ""), ptr.Deref(p.Protocol, corev1.ProtocolTCP), host, ptr.Deref(p.Port, 0))
		}
	}
}

// addPort adds a port that has a name. The API takes any number in an EndpointSlice.
func (n *names) addPort(service, name string, protocol corev1.Protocol, host string, number int32) {
	if name == "" || len(validation.IsValidPortNum(int(number))) > 0 {
		return
	}
	at := "_" + name + "._" + strings.ToLower(string(protocol)) + "." + service
	n.Ports[at] = append(n.Ports[at], runtime.NamedPort{Host: host, Port: uint16(number)})
}
