package network

import "net/netip"

// candidates are the ranges that pods may get their addresses from, the preferred one first.
func candidates() []netip.Prefix {
	var all []netip.Prefix
	for second := 244; second > 127; second-- {
		all = append(all, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(second)}), 16))
	}
	for second := 31; second > 15; second-- {
		all = append(all, netip.PrefixFrom(netip.AddrFrom4([4]byte{172, byte(second)}), 16))
	}
	return all
}

// Choose returns the first range for pods that has none of the machine's networks. What is in such a network could not be
// reached from a pod. If all have some, it returns the preferred one.
func Choose(machine []netip.Prefix) netip.Prefix { return firstFree(candidates(), machine) }

// ChooseForServices does the same for the addresses of Services. No pod has one of them.
func ChooseForServices(machine []netip.Prefix) netip.Prefix {
	return firstFree(serviceCandidates(), machine)
}

func serviceCandidates() (all []netip.Prefix) {
	for second := 96; second > 63; second-- {
		all = append(all, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(second)}), 16))
	}
	return all
}

func firstFree(all, machine []netip.Prefix) netip.Prefix {
	for _, c := range all {
		if !overlaps(c, machine) {
			return c
		}
	}
	return all[0]
}

func overlaps(p netip.Prefix, others []netip.Prefix) bool {
	for _, o := range others {
		if o.Bits() > 0 && p.Overlaps(o) {
			return true
		}
	}
	return false
}

// Gateway is the address by which the pods of a range reach the machine: their router, their DNS server, and the machine's
// loopback address.
func Gateway(pods netip.Prefix) netip.Addr { return pods.Masked().Addr().Next() }
