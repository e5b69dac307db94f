package server

import (
	"net"
	"net/netip"
	"testing"
)

func TestWherePodsReachAListener(t *testing.T) {
	pods := netip.MustParsePrefix("10.244.0.0/16")
	for listener, want := range map[string]string{
		"127.0.0.1:7443": "10.244.0.1",
		"0.0.0.0:7443":   "10.244.0.1",
		"[::]:7443":      "10.244.0.1",
		"192.0.2.1:7443": "192.0.2.1",
		"127.0.0.2:7443": "invalid IP",
		"[::1]:7443":     "invalid IP",
	} {
		addr := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(listener))
		if got := addressForPods(addr, pods).String(); got != want {
			t.Errorf("%s: %s, want %s", listener, got, want)
		}
		if got := addressForPods(addr, netip.Prefix{}); got.IsValid() {
			t.Errorf("%s, where pods have no networks: %s", listener, got)
		}
	}
}
