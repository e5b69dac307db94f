package service

import (
	"fmt"
	"math/rand/v2"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// Node ports are from FirstNodePort to LastNodePort, as in Kubernetes.
const (
	FirstNodePort = 30000
	LastNodePort  = 32767
)

// Taken is what the Services of a server have.
type Taken struct {
	addresses map[netip.Addr]string
	nodePorts map[nodePort]string
}

type nodePort struct {
	protocol corev1.Protocol
	port     int32
}

// TakenBy returns what these Services have.
func TakenBy(all []corev1.Service) Taken {
	t := Taken{map[netip.Addr]string{}, map[nodePort]string{}}
	for i := range all {
		svc := &all[i]
		name := svc.Namespace + "/" + svc.Name
		if addr, err := netip.ParseAddr(svc.Spec.ClusterIP); err == nil {
			t.addresses[addr] = name
		}
		for _, p := range svc.Spec.Ports {
			if p.NodePort != 0 {
				t.nodePorts[nodePort{p.Protocol, p.NodePort}] = name
			}
		}
	}
	return t
}

// Allocate gives a Service the address and the node ports that it needs and does not have yet, and the family of the address. It
// returns errors about those that it asks for and cannot have. It keeps what the Service had before; was is nil for a new one.
// Values that validation refuses are left alone.
func Allocate(s, was *corev1.ServiceSpec, within netip.Prefix, taken Taken) field.ErrorList {
	if isExternalName(s) {
		return nil
	}
	taken.release(was)
	setFamilies(s)
	var errs field.ErrorList
	if was == nil || s.ClusterIP == "" || s.ClusterIP != was.ClusterIP {
		errs = allocateAddress(s, within, taken)
	}
	if hasNodePorts(s) {
		errs = append(errs, allocateNodePorts(s.Ports, taken)...)
	}
	return errs
}

func (t Taken) release(s *corev1.ServiceSpec) {
	if s == nil {
		return
	}
	for _, p := range s.Ports {
		delete(t.nodePorts, nodePort{p.Protocol, p.NodePort})
	}
}

// setFamilies says IPv4. Endpoints that users write themselves may be of both families.
func setFamilies(s *corev1.ServiceSpec) {
	if s.IPFamilyPolicy == nil {
		s.IPFamilyPolicy = ptr.To(corev1.IPFamilyPolicySingleStack)
		if bothFamilies(s) {
			s.IPFamilyPolicy = ptr.To(corev1.IPFamilyPolicyRequireDualStack)
		}
	}
	if len(s.IPFamilies) == 0 {
		s.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	if bothFamilies(s) && len(s.IPFamilies) == 1 && *s.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack {
		other := map[corev1.IPFamily]corev1.IPFamily{corev1.IPv4Protocol: corev1.IPv6Protocol, corev1.IPv6Protocol: corev1.IPv4Protocol}
		s.IPFamilies = append(s.IPFamilies, other[s.IPFamilies[0]])
	}
}

func allocateAddress(s *corev1.ServiceSpec, within netip.Prefix, taken Taken) field.ErrorList {
	p := field.NewPath("spec", "clusterIPs")
	if s.ClusterIP == "" && len(s.ClusterIPs) == 0 {
		addr, ok := freeAddress(within, taken)
		if !ok {
			return field.ErrorList{field.InternalError(p, fmt.Errorf("all addresses of %s are those of other Services: delete some", within))}
		}
		s.ClusterIP, s.ClusterIPs = addr.String(), []string{addr.String()}
		return nil
	}
	addr, err := netip.ParseAddr(s.ClusterIP)
	if err != nil || !addr.Is4() {
		return nil
	}
	switch owner, has := taken.addresses[addr]; {
	case !within.Contains(addr) || !isUsable(addr, within):
		return field.ErrorList{field.Invalid(p, s.ClusterIPs, fmt.Sprintf("must be in the range %s, and neither its first nor its last address: choose another, or leave it out", within))}
	case has:
		return field.ErrorList{field.Invalid(p, s.ClusterIPs, fmt.Sprintf("is the address of Service %s: choose another, or leave it out", owner))}
	}
	return nil
}

// freeAddress searches from a random address on, so that an address is seldom used again while clients still remember it.
func freeAddress(within netip.Prefix, taken Taken) (netip.Addr, bool) {
	size := 1 << (within.Addr().BitLen() - within.Bits())
	start := rand.IntN(size) //nolint:gosec // no secret
	for i := range size {
		addr := nth(within, (start+i)%size)
		if _, has := taken.addresses[addr]; !has && isUsable(addr, within) && addr != FirstAddress(within) {
			return addr, true
		}
	}
	return netip.Addr{}, false
}

// isUsable reports whether an address is neither the first of a range, which is its name, nor the last.
func isUsable(addr netip.Addr, within netip.Prefix) bool {
	return addr != within.Masked().Addr() && within.Contains(addr.Next())
}

// FirstAddress is the address of the Service kubernetes, which is kept for it.
func FirstAddress(within netip.Prefix) netip.Addr { return within.Masked().Addr().Next() }

func nth(within netip.Prefix, n int) netip.Addr {
	b := within.Masked().Addr().As4()
	value := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	value += uint32(n)
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)})
}

func allocateNodePorts(ports []corev1.ServicePort, taken Taken) field.ErrorList {
	var errs field.ErrorList
	p := field.NewPath("spec", "ports")
	own := map[nodePort]bool{}
	for _, port := range ports {
		own[nodePort{port.Protocol, port.NodePort}] = true
	}
	for i := range ports {
		port, at := &ports[i], p.Index(i).Child("nodePort")
		if port.NodePort == 0 {
			free, ok := freeNodePort(port.Protocol, own, taken)
			if !ok {
				errs = append(errs, field.InternalError(at, fmt.Errorf("all node ports are those of other Services: delete some")))
				continue
			}
			port.NodePort = free
			own[nodePort{port.Protocol, free}] = true
			continue
		}
		switch owner, has := taken.nodePorts[nodePort{port.Protocol, port.NodePort}]; {
		case port.NodePort < FirstNodePort || port.NodePort > LastNodePort:
			errs = append(errs, field.Invalid(at, port.NodePort, fmt.Sprintf("must be from %d to %d: choose another, or leave it out", FirstNodePort, LastNodePort)))
		case has:
			errs = append(errs, field.Invalid(at, port.NodePort, fmt.Sprintf("is a port of Service %s: choose another, or leave it out", owner)))
		}
	}
	return errs
}

func freeNodePort(protocol corev1.Protocol, own map[nodePort]bool, taken Taken) (int32, bool) {
	const size = LastNodePort - FirstNodePort + 1
	start := rand.Int32N(size) //nolint:gosec // no secret
	for i := range int32(size) {
		key := nodePort{protocol, FirstNodePort + (start+i)%size}
		if _, has := taken.nodePorts[key]; !has && !own[key] {
			return key.port, true
		}
	}
	return 0, false
}
