package network

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// timeToLive is for how many seconds a name may be remembered, as in a cluster.
const timeToLive = 5

// answer returns the records that answer a question. Mine is false if the name is not one of the cluster.
func answer(names *runtime.Names, pods netip.Prefix, q dns.Question) (records []dns.RR, rcode int, mine bool) {
	name := strings.ToLower(q.Name)
	if addr, is := reversed(name); is {
		host, known := names.Of[addr]
		if !known {
			return nil, dns.RcodeNameError, pods.Contains(addr)
		}
		if q.Qtype == dns.TypePTR {
			records = append(records, &dns.PTR{Hdr: header(q, dns.TypePTR), Ptr: host})
		}
		return records, dns.RcodeSuccess, true
	}
	if names.Domain == "" || !dns.IsSubDomain(names.Domain, name) {
		return nil, dns.RcodeNameError, false
	}
	alias, isAlias := names.Aliases[name]
	addresses, hasAddresses := names.Addresses[name]
	ports, hasPorts := names.Ports[name]
	switch {
	case isAlias:
		records = append(records, &dns.CNAME{Hdr: header(q, dns.TypeCNAME), Target: alias})
	case q.Qtype == dns.TypeA:
		for _, addr := range addresses {
			records = append(records, &dns.A{Hdr: header(q, dns.TypeA), A: addr.AsSlice()})
		}
	case q.Qtype == dns.TypeSRV:
		for _, p := range ports {
			records = append(records, &dns.SRV{Hdr: header(q, dns.TypeSRV), Weight: 100, Port: p.Port, Target: p.Host})
		}
	}
	if isAlias || hasAddresses || hasPorts {
		return records, dns.RcodeSuccess, true
	}
	return nil, dns.RcodeNameError, true
}

func header(q dns.Question, kind uint16) dns.RR_Header {
	return dns.RR_Header{Name: q.Name, Rrtype: kind, Class: dns.ClassINET, Ttl: timeToLive}
}

// reversed is the address of which a name such as 7.0.96.10.in-addr.arpa. asks the name.
func reversed(name string) (netip.Addr, bool) {
	digits, is := strings.CutSuffix(name, ".in-addr.arpa.")
	if !is {
		return netip.Addr{}, false
	}
	parts := strings.Split(digits, ".")
	slices.Reverse(parts)
	addr, err := netip.ParseAddr(strings.Join(parts, "."))
	return addr, err == nil && addr.Is4()
}
