package network

import (
	"io"
	"net"
	"net/netip"
	"testing"

	"github.com/miekg/dns"

	"github.com/stint-dev/stint/test/await"
)

func TestSharesAreForEachPod(t *testing.T) {
	s := newShares(2, 3)
	a, b := addr(2), addr(3)
	for i, c := range []struct {
		pod  netip.Addr
		want bool
	}{{a, true}, {a, true}, {a, false}, {b, true}, {b, false}} {
		if got := s.take(c.pod); got != c.want {
			t.Errorf("%d: %s takes: %v, want %v", i, c.pod, got, c.want)
		}
	}
	s.give(a)
	if !s.take(b) {
		t.Error("what a pod gives back is not for another one")
	}
}

func TestAClientWithTooManyConnectionsGetsNoMore(t *testing.T) {
	inner, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inner.Close() })
	l := &sharedListener{inner, newShares(1, 10)}
	accepted := make(chan net.Conn)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	connect := func() net.Conn {
		conn, err := new(net.Dialer).DialContext(await.Context(t), "tcp4", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	connect()
	first := await.Value(t, "a connection", accepted)
	if _, err := io.ReadAll(connect()); err != nil {
		t.Error("a second connection is not closed in order:", err)
	}
	first.Close()
	first.Close()
	connect()
	await.Value(t, "a connection in place of the first", accepted).Close()
}

// A pod whose questions wait for the machine's DNS servers keeps no other pod from asking.
func TestAPodWithManyQuestionsDelaysNoOther(t *testing.T) {
	n := openWith(t, withResolvers(machinesResolver(t)))
	a, b := attach(t, n, 2), attach(t, n, 3)
	for n.dns.questions.take(a.Address) {
	}
	question := dns.Question{Name: "example.org.", Qtype: dns.TypeA}
	if n.dns.resolve(new(dns.Msg), question, a.Address, "udp") {
		t.Error("one question more is answered")
	}
	if got := lookUp(t, b, "udp", "example.org.", dns.TypeA); got != "A 192.0.2.80" {
		t.Error(got)
	}
}

// A pod that has many connections out keeps no other pod from making one.
func TestAPodWithManyConnectionsLeavesSomeForOthers(t *testing.T) {
	n := openNetwork(t)
	a, b := attach(t, n, 2), attach(t, n, 3)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	greet(t, listener, "machine")
	for n.egress.shares.take(a.Address) {
	}
	to := netip.AddrPortFrom(n.gateway, uint16(listener.Addr().(*net.TCPAddr).Port)).String()
	if got, err := ask(t, a, to); err == nil {
		t.Errorf("one connection more is answered: %q", got)
	}
	wantAnswer(t, b, to, "machine 127.0.0.1")
}
