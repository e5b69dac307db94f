package network

import (
	"net/netip"
	"testing"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// manyServices are Services of which the first leads to port 80 of the first pod, and each of the others to many backends.
func manyServices(count, backends int) runtime.Services {
	s := runtime.Services{Range: netip.MustParsePrefix("10.96.0.0/16")}
	at, backend := s.Range.Addr(), netip.AddrPortFrom(addr(2), 80)
	for range count {
		at = at.Next()
		port := runtime.ServicePort{Address: netip.AddrPortFrom(at, 80), Protocol: runtime.TCP, Backends: []netip.AddrPort{backend}}
		if len(s.Ports) > 0 {
			for i := 1; i < backends; i++ {
				port.Backends = append(port.Backends, netip.AddrPortFrom(addr(2), uint16(1000+i)))
			}
		}
		s.Ports = append(s.Ports, port)
	}
	return s
}

func TestManyServicesAndBackends(t *testing.T) {
	n := openNetwork(t)
	a := attach(t, n, 2)
	serve(t, a, 80, "a")
	for _, c := range []struct {
		what               string
		services, backends int
	}{
		{"many Services", 3000, 1},
		{"a Service with many backends", 2, 10000},
		{"few Services again", 1, 1},
	} {
		if err := n.SetServices(manyServices(c.services, c.backends)); err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		wantAnswer(t, a, "10.96.0.1:80", "a 10.244.0.1")
	}
}
