package hosts

import (
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"slices"
	"syscall"
)

// special are the addresses that are neither public nor known as private to net/netip.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // shared by the customers of a provider
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), // translated to IPv4 of a local network
	netip.MustParsePrefix("fec0::/10"),
}

// translated are addresses that end with one of IPv4, to which a router translates them.
var translated = netip.MustParsePrefix("64:ff9b::/96")

// Public reports whether an address is one of the Internet, and not of this machine or a network of its own.
func Public(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	if translated.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	return a.IsGlobalUnicast() && !a.IsPrivate() &&
		!slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Checked returns a transport with the settings of t that connects to no address for which allow returns an error. It is for hosts
// that a registry names: allow gets the address to which a connection is made, whatever the name of the host meant before. If a proxy
// makes the connection, allow is not called.
func (t *Transport) Checked(allow func(netip.Addr) error) http.RoundTripper {
	direct := t.inner.Clone()
	direct.Proxy = nil
	dialer := t.host.dialer()
	dialer.Control = func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return allow(at.Addr())
	}
	direct.DialContext = dialUntil(t.until, dialer)
	return &checked{proxied: t.inner, direct: direct}
}

type checked struct{ proxied, direct *http.Transport }

// RoundTrip implements http.RoundTripper.
func (c *checked) RoundTrip(req *http.Request) (*http.Response, error) {
	if throughProxy(c.proxied, req) {
		return c.proxied.RoundTrip(req)
	}
	return c.direct.RoundTrip(req)
}

// Tracing returns a request that calls connected with the address of the host which it has a connection to; not with that of a
// proxy.
func (t *Transport) Tracing(req *http.Request, connected func(netip.Addr)) *http.Request {
	if throughProxy(t.inner, t.toHost(req, t.Plain())) {
		return req
	}
	return req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if at, ok := c.Conn.RemoteAddr().(*net.TCPAddr); ok {
			connected(at.AddrPort().Addr())
		}
	}}))
}

func throughProxy(t *http.Transport, req *http.Request) bool {
	if t.Proxy == nil {
		return false
	}
	proxy, err := t.Proxy(req)
	return err != nil || proxy != nil
}
