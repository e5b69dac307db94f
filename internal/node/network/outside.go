package network

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// outside are the TCP ports of Services that lead out of the network, by their addresses, with the backends there: pods that
// share the machine's network, and the machine.
type outside map[netip.AddrPort]runtime.ServicePort

// leadOut returns which ports lead out of the network, and all ports as the rules are to have them: with egress in place of each
// backend outside. A packet is translated once, so that egress is told the address of the Service.
func leadOut(ports []runtime.ServicePort, pods netip.Prefix) (outside, []runtime.ServicePort) {
	out, all := outside{}, make([]runtime.ServicePort, len(ports))
	gateway := Gateway(pods)
	for i, p := range ports {
		all[i] = p
		if p.Protocol != runtime.TCP {
			continue
		}
		far := p
		all[i].Backends, far.Backends = nil, nil
		for _, b := range p.Backends {
			if pods.Contains(b.Addr()) && b.Addr() != gateway {
				all[i].Backends = append(all[i].Backends, b)
				continue
			}
			all[i].Backends = append(all[i].Backends, netip.AddrPortFrom(gateway, egressPort))
			far.Backends = append(far.Backends, b)
		}
		if len(far.Backends) > 0 {
			out[p.Address] = far
		}
	}
	return out, all
}

// target is where a connection of a pod to an address leads.
func (o outside) target(pod netip.Addr, to netip.AddrPort) netip.AddrPort {
	port, is := o[to]
	if !is {
		return to
	}
	count := uint32(len(port.Backends))
	if !port.Sticky {
		return port.Backends[rand.Uint32N(count)] //nolint:gosec // it balances, it hides nothing
	}
	return port.Backends[binary.BigEndian.Uint32(pod.AsSlice())%count]
}
