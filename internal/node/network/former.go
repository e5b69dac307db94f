package network

import (
	"maps"
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Lingers is how long a pod that has ended keeps its name and answers pings. A Job's pods that look for one another try again
// after a while, and the first that has found all may have ended by then. In a cluster, caches of names and the time that a
// kubelet takes have this effect.
const Lingers = timeToLive * time.Second

// known are the names that a name server answers.
type known struct {
	names  *runtime.Names
	former map[string]formerHost
}

// formerHost is where a pod was that has gone.
type formerHost struct {
	address netip.Addr
	until   time.Time
}

// replaced returns what is known after new names came at that time.
func (k *known) replaced(names *runtime.Names, pods netip.Prefix, at time.Time) *known {
	former := maps.Clone(k.former)
	maps.DeleteFunc(former, func(host string, f formerHost) bool {
		_, again := names.Addresses[host]
		return again || !f.until.After(at)
	})
	for address, host := range k.names.Of {
		if _, stays := names.Addresses[host]; !stays && pods.Contains(address) {
			former[host] = formerHost{address, at.Add(Lingers)}
		}
	}
	return &known{names: names, former: former}
}

// answer returns the records that answer a question at that time. Mine is false if the name is not one of the cluster.
func (k *known) answer(pods netip.Prefix, q dns.Question, at time.Time) (records []dns.RR, rcode int, mine bool) {
	records, rcode, mine = answer(k.names, pods, q)
	host, is := k.former[dns.CanonicalName(q.Name)]
	if rcode != dns.RcodeNameError || !is || !host.until.After(at) {
		return records, rcode, mine
	}
	if q.Qtype == dns.TypeA {
		records = append(records, &dns.A{Hdr: header(q, dns.TypeA), A: host.address.AsSlice()})
	}
	return records, dns.RcodeSuccess, true
}
