package service

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Complete fills in what the server has decided about a Service before (was, nil for a new one), and makes clusterIP and
// clusterIPs say the same, whichever of them a client has set.
func Complete(s, was *corev1.ServiceSpec) {
	if isExternalName(s) {
		s.InternalTrafficPolicy = nil
	}
	if was == nil {
		if s.ClusterIP != "" && len(s.ClusterIPs) == 0 {
			s.ClusterIPs = []string{s.ClusterIP}
		}
		return
	}
	keepAllocated(s, was)
	switch {
	case s.ClusterIP == was.ClusterIP:
	case s.ClusterIP == "" && slices.Equal(s.ClusterIPs, was.ClusterIPs):
		s.ClusterIPs = nil
	case s.ClusterIP == "":
	case len(s.ClusterIPs) == 0:
		s.ClusterIPs = []string{s.ClusterIP}
	case slices.Equal(s.ClusterIPs, was.ClusterIPs):
		s.ClusterIPs = append([]string{s.ClusterIP}, s.ClusterIPs[1:]...)
	}
}

// keepAllocated keeps the address and the node ports where an update leaves them out, as manifests do.
func keepAllocated(s, was *corev1.ServiceSpec) {
	if !isExternalName(s) && !isExternalName(was) {
		if s.ClusterIP == "" {
			s.ClusterIP = was.ClusterIP
		}
		if len(s.ClusterIPs) == 0 && s.ClusterIP == was.ClusterIP {
			s.ClusterIPs = was.ClusterIPs
		}
	}
	if hasNodePorts(s) && hasNodePorts(was) {
		keepNodePorts(s.Ports, was.Ports)
	}
}

// keepNodePorts has each port without a node port keep the one that it had, unless another port asks for that.
func keepNodePorts(ports, was []corev1.ServicePort) {
	type key struct {
		protocol corev1.Protocol
		port     int32
	}
	before, asked := map[key]int32{}, map[key]bool{}
	for _, p := range was {
		before[key{p.Protocol, p.Port}] = p.NodePort
	}
	for _, p := range ports {
		asked[key{p.Protocol, p.NodePort}] = true
	}
	for i := range ports {
		p := &ports[i]
		if had := before[key{p.Protocol, p.Port}]; p.NodePort == 0 && !asked[key{p.Protocol, had}] {
			p.NodePort = had
		}
	}
}

// dropUnneeded drops what the type of a Service no longer needs, unless the client has changed it: then validation says that
// it does not fit.
func dropUnneeded(s, was *corev1.ServiceSpec) {
	if isExternalName(s) && !isExternalName(was) {
		if s.ClusterIP == was.ClusterIP && slices.Equal(s.ClusterIPs, was.ClusterIPs) {
			s.ClusterIP, s.ClusterIPs = "", nil
		}
		if slices.Equal(s.IPFamilies, was.IPFamilies) {
			s.IPFamilies = nil
		}
		if ptr.Equal(s.IPFamilyPolicy, was.IPFamilyPolicy) {
			s.IPFamilyPolicy = nil
		}
	}
	if hasNodePorts(s) || !hasNodePorts(was) {
		return
	}
	if sameNodePorts(s.Ports, was.Ports) {
		for i := range s.Ports {
			s.Ports[i].NodePort = 0
		}
	}
	if s.ExternalTrafficPolicy == was.ExternalTrafficPolicy {
		s.ExternalTrafficPolicy = ""
	}
}

// sameNodePorts reports whether no port has a node port that none had before.
func sameNodePorts(ports, was []corev1.ServicePort) bool {
	return !slices.ContainsFunc(ports, func(p corev1.ServicePort) bool {
		return p.NodePort != 0 && !slices.ContainsFunc(was, func(w corev1.ServicePort) bool { return w.NodePort == p.NodePort })
	})
}
