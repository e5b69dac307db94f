package network

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

var testNames = runtime.Names{
	Domain: "cluster.local.",
	Addresses: map[string][]netip.Addr{
		"db.default.svc.cluster.local.":    {netip.MustParseAddr("10.96.0.7")},
		"w.default.svc.cluster.local.":     {addr(2), addr(3)},
		"w-0.w.default.svc.cluster.local.": {addr(2)},
	},
	Aliases: map[string]string{
		"out.default.svc.cluster.local.":    "example.org.",
		"in.default.svc.cluster.local.":     "db.default.svc.cluster.local.",
		"circle.default.svc.cluster.local.": "circle.default.svc.cluster.local.",
	},
	Ports: map[string][]runtime.NamedPort{
		"_sql._tcp.db.default.svc.cluster.local.": {{Host: "db.default.svc.cluster.local.", Port: 5432}},
	},
	Of: map[netip.Addr]string{addr(2): "w-0.w.default.svc.cluster.local."},
}

// lookUp asks the gateway from a pod, and returns the answer in a line.
func lookUp(t *testing.T, from *Pod, network, name string, kind uint16) string {
	t.Helper()
	var conn net.Conn
	err := inside(from.Namespace, func() (err error) {
		conn, err = new(net.Dialer).DialContext(await.Context(t), network, "10.244.0.1:53")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := dns.Client{Net: network, Timeout: await.Limit}
	got, _, err := client.ExchangeWithConn(new(dns.Msg).SetQuestion(name, kind), &dns.Conn{Conn: conn})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var parts []string
	if got.Rcode != dns.RcodeSuccess {
		parts = append(parts, dns.RcodeToString[got.Rcode])
	}
	for _, record := range got.Answer {
		_, value, _ := strings.Cut(record.String(), "\tIN\t")
		parts = append(parts, strings.ReplaceAll(value, "\t", " "))
	}
	if got.Truncated {
		parts = append(parts, "truncated")
	}
	return strings.Join(parts, ", ")
}

func TestPodsLookUpNames(t *testing.T) {
	silent := netip.MustParseAddrPort("127.0.0.1:1")
	n := openWith(t, withResolvers(silent, machinesResolver(t)))
	a := attach(t, n, 2)
	if err := n.SetServices(runtime.Services{Names: testNames}); err != nil {
		t.Fatal(err)
	}
	const domain = "default.svc.cluster.local."
	for _, c := range []struct {
		what, name string
		kind       uint16
		want       string
	}{
		{"a Service", "db." + domain, dns.TypeA, "A 10.96.0.7"},
		{"in capital letters", "DB.Default.svc.cluster.LOCAL.", dns.TypeA, "A 10.96.0.7"},
		{"a headless Service", "w." + domain, dns.TypeA, "A 10.244.0.2, A 10.244.0.3"},
		{"a pod", "w-0.w." + domain, dns.TypeA, "A 10.244.0.2"},
		{"a pod that is not there", "w-7.w." + domain, dns.TypeA, "NXDOMAIN"},
		{"without an IPv6 address", "db." + domain, dns.TypeAAAA, ""},
		{"a port", "_sql._tcp.db." + domain, dns.TypeSRV, "SRV 0 100 5432 db.default.svc.cluster.local."},
		{"an alias of a Service", "in." + domain, dns.TypeA, "CNAME db.default.svc.cluster.local., A 10.96.0.7"},
		{"an alias of a name outside", "out." + domain, dns.TypeA, "CNAME example.org., A 192.0.2.80"},
		{"an alias of itself", "circle." + domain, dns.TypeA, "SERVFAIL" + strings.Repeat(", CNAME circle.default.svc.cluster.local.", maxAliases)},
		{"an address", "2.0.244.10.in-addr.arpa.", dns.TypePTR, "PTR w-0.w.default.svc.cluster.local."},
		{"a pod's address without a name", "9.0.244.10.in-addr.arpa.", dns.TypePTR, "NXDOMAIN"},
		{"a name outside", "example.org.", dns.TypeA, "A 192.0.2.80"},
		{"no name outside", "example.net.", dns.TypeA, "NXDOMAIN"},
	} {
		for _, network := range []string{"udp", "tcp"} {
			if got := lookUp(t, a, network, c.name, c.kind); got != c.want {
				t.Errorf("%s, by %s: %q, want %q", c.what, network, got, c.want)
			}
		}
	}
}

// machinesResolver is the machine's DNS server, which knows example.org.
func machinesResolver(t *testing.T) netip.AddrPort {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().(*net.TCPAddr).AddrPort()
	packets, err := net.ListenPacket("udp4", at.String())
	if err != nil {
		t.Fatal(err)
	}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		reply := new(dns.Msg).SetReply(q)
		if q.Question[0].Name == "example.org." {
			record, err := dns.NewRR("example.org. 60 IN A 192.0.2.80")
			if err != nil {
				t.Error(err)
			}
			reply.Answer = append(reply.Answer, record)
		} else {
			reply.Rcode = dns.RcodeNameError
		}
		w.WriteMsg(reply)
	})
	for _, server := range []*dns.Server{{PacketConn: packets, Handler: handler}, {Listener: listener, Handler: handler}} {
		go server.ActivateAndServe()
	}
	t.Cleanup(func() {
		packets.Close()
		listener.Close()
	})
	return at
}

// withResolvers is a machine that has these DNS servers.
func withResolvers(all ...netip.AddrPort) Config {
	return Config{Resolvers: func() []netip.AddrPort { return all }}
}

// An answer that a packet is too small for is asked for again by TCP.
func TestALongAnswer(t *testing.T) {
	n := openNetwork(t)
	a := attach(t, n, 2)
	many := runtime.Names{Domain: "cluster.local.", Addresses: map[string][]netip.Addr{}}
	for i := range 200 {
		many.Addresses["w.cluster.local."] = append(many.Addresses["w.cluster.local."], addr(byte(i)))
	}
	if err := n.SetServices(runtime.Services{Names: many}); err != nil {
		t.Fatal(err)
	}
	if got := lookUp(t, a, "udp", "w.cluster.local.", dns.TypeA); !strings.HasSuffix(got, "truncated") {
		t.Error(got)
	}
	if got := lookUp(t, a, "tcp", "w.cluster.local.", dns.TypeA); strings.Count(got, "A 10.244") != 200 {
		t.Error(got)
	}
}

func TestAMachineWithoutAResolver(t *testing.T) {
	a := attach(t, openWith(t, withResolvers()), 2)
	if got := lookUp(t, a, "udp", "example.org.", dns.TypeA); got != "SERVFAIL" {
		t.Error(got)
	}
}

func FuzzReversed(f *testing.F) {
	f.Add("2.0.244.10.in-addr.arpa.")
	f.Add(".in-addr.arpa.")
	f.Fuzz(func(t *testing.T, name string) {
		addr, is := reversed(name)
		if !is {
			return
		}
		b := addr.As4()
		if want := fmt.Sprintf("%d.%d.%d.%d.in-addr.arpa.", b[3], b[2], b[1], b[0]); name != want {
			t.Errorf("%q is taken for %s, which is %q", name, addr, want)
		}
	})
}
