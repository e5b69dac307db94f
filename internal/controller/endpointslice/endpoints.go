package endpointslice

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/podstatus"
)

// group are endpoints that have the same ports. Pods may give the same name to different ports.
type group struct {
	ports     []discoveryv1.EndpointPort
	endpoints []discoveryv1.Endpoint
}

// endpointsOf groups the pods behind a Service by their ports. The order of both follows from what they are.
func endpointsOf(svc *corev1.Service, pods []*corev1.Pod) []group {
	byPorts := map[string]*group{}
	for _, p := range pods {
		if !isEndpoint(p) {
			continue
		}
		ports := portsOf(svc, p)
		key := portsKey(ports)
		if byPorts[key] == nil {
			byPorts[key] = &group{ports: ports}
		}
		byPorts[key].endpoints = append(byPorts[key].endpoints, endpointOf(svc, p))
	}
	var all []group
	for _, g := range byPorts {
		slices.SortFunc(g.endpoints, func(a, b discoveryv1.Endpoint) int { return cmp.Compare(a.TargetRef.Name, b.TargetRef.Name) })
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b group) int { return cmp.Compare(portsKey(a.ports), portsKey(b.ports)) })
	return all
}

// isEndpoint reports whether a pod has an address that others can reach, and has not terminated.
func isEndpoint(p *corev1.Pod) bool {
	addr, err := netip.ParseAddr(p.Status.PodIP)
	return err == nil && addr.Is4() && !addr.IsLoopback() && !podstatus.IsTerminated(p)
}

func endpointOf(svc *corev1.Service, p *corev1.Pod) discoveryv1.Endpoint {
	serving, terminating := podstatus.IsReady(p), p.DeletionTimestamp != nil
	e := discoveryv1.Endpoint{
		Addresses: []string{p.Status.PodIP},
		Conditions: discoveryv1.EndpointConditions{
			Ready:       ptr.To(svc.Spec.PublishNotReadyAddresses || serving && !terminating),
			Serving:     &serving,
			Terminating: &terminating,
		},
		TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
	}
	if p.Spec.NodeName != "" {
		e.NodeName = &p.Spec.NodeName
	}
	if p.Spec.Hostname != "" && p.Spec.Subdomain == svc.Name {
		e.Hostname = &p.Spec.Hostname
	}
	return e
}

// portsOf returns the ports of a pod behind those of a Service, without named ones that the pod does not have.
func portsOf(svc *corev1.Service, p *corev1.Pod) []discoveryv1.EndpointPort {
	var ports []discoveryv1.EndpointPort
	for _, port := range svc.Spec.Ports {
		if number := targetPort(&port, p); number != 0 {
			ports = append(ports, discoveryv1.EndpointPort{Name: &port.Name, Protocol: &port.Protocol, Port: &number, AppProtocol: port.AppProtocol})
		}
	}
	return ports
}

func targetPort(port *corev1.ServicePort, p *corev1.Pod) int32 {
	if port.TargetPort.Type == intstr.Int {
		return cmp.Or(port.TargetPort.IntVal, port.Port)
	}
	for _, c := range p.Spec.Containers {
		if n := namedPort(&c, port); n != 0 {
			return n
		}
	}
	for _, c := range p.Spec.InitContainers {
		if ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways {
			if n := namedPort(&c, port); n != 0 {
				return n
			}
		}
	}
	return 0
}

func namedPort(c *corev1.Container, port *corev1.ServicePort) int32 {
	for _, p := range c.Ports {
		if p.Name == port.TargetPort.StrVal && cmp.Or(p.Protocol, corev1.ProtocolTCP) == port.Protocol {
			return p.ContainerPort
		}
	}
	return 0
}

// portsKey is the same for the same ports.
func portsKey(ports []discoveryv1.EndpointPort) string {
	parts := make([]string, len(ports))
	for i, p := range ports {
		parts[i] = strings.Join([]string{ptr.Deref(p.Name, ""), string(ptr.Deref(p.Protocol, "")), strconv.Itoa(int(ptr.Deref(p.Port, 0))),
			ptr.Deref(p.AppProtocol, "")}, " ")
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}
