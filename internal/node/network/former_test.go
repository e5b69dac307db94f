package network

import (
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/stint-dev/stint/internal/node/runtime"
)

func TestAPodThatHasEndedKeepsItsNameForAWhile(t *testing.T) {
	const host, service = "job-0.ring.ns.svc.cluster.local.", "web.ns.svc.cluster.local."
	names := func(addresses map[string]netip.Addr) *runtime.Names {
		n := &runtime.Names{Domain: "cluster.local.", Addresses: map[string][]netip.Addr{}, Of: map[netip.Addr]string{}}
		for name, addr := range addresses {
			n.Addresses[name], n.Of[addr] = []netip.Addr{addr}, name
		}
		return n
	}
	first, second, clusterIP := addr(2), addr(3), netip.MustParseAddr("10.96.0.7")
	begin := time.Unix(0, 0)
	before := (&known{names: &runtime.Names{}, former: map[string]formerHost{}}).replaced(names(map[string]netip.Addr{host: first, service: clusterIP}), pods, begin)
	gone := before.replaced(names(nil), pods, begin)
	back := gone.replaced(names(map[string]netip.Addr{host: second}), pods, begin)
	for _, c := range []struct {
		sentence string
		known    *known
		name     string
		kind     uint16
		after    time.Duration
		want     string
		rcode    int
	}{
		{"while it runs", before, host, dns.TypeA, 0, "10.244.0.2", dns.RcodeSuccess},
		{"after it has ended", gone, host, dns.TypeA, Lingers - 1, "10.244.0.2", dns.RcodeSuccess},
		{"written in another way", gone, "JOB-0.ring.ns.svc.cluster.local.", dns.TypeA, 0, "10.244.0.2", dns.RcodeSuccess},
		{"also if something else changes", gone.replaced(names(nil), pods, begin.Add(1)), host, dns.TypeA, Lingers - 1, "10.244.0.2", dns.RcodeSuccess},
		{"it has no other address", gone, host, dns.TypeAAAA, 0, "", dns.RcodeSuccess},
		{"not for ever", gone, host, dns.TypeA, Lingers, "", dns.RcodeNameError},
		{"another pod gets the name", back, host, dns.TypeA, 0, "10.244.0.3", dns.RcodeSuccess},
		{"a Service keeps no name", gone, service, dns.TypeA, 0, "", dns.RcodeNameError},
	} {
		records, rcode, mine := c.known.answer(pods, dns.Question{Name: c.name, Qtype: c.kind}, begin.Add(c.after))
		got := ""
		if len(records) == 1 {
			got = records[0].(*dns.A).A.String()
		}
		if got != c.want || rcode != c.rcode || !mine {
			t.Errorf("%s: %q, %s, want %q, %s", c.sentence, got, dns.RcodeToString[rcode], c.want, dns.RcodeToString[c.rcode])
		}
	}
	if left := gone.replaced(names(nil), pods, begin.Add(Lingers)).former; len(left) != 0 {
		t.Errorf("it remembers %v", left)
	}
}
