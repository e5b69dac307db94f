package hosts_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/image/registry/hosts"
)

func TestPublicAddresses(t *testing.T) {
	for want, list := range map[bool]string{
		true: "1.1.1.1 100.63.255.255 100.128.0.0 172.15.0.1 172.32.0.1 203.0.113.1 2606:4700::1111 ::ffff:1.1.1.1 64:ff9b::101:101",
		false: "127.0.0.1 127.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 169.254.169.254 100.64.0.1 100.127.255.255 0.0.0.0 0.1.2.3 " +
			"192.0.0.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::10.0.0.1 fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 fec0::1 ff02::1 " +
			"::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::a00:1 64:ff9b::7f00:1 64:ff9b:1::1",
	} {
		for _, a := range strings.Fields(list) {
			if got := hosts.Public(netip.MustParseAddr(a)); got != want {
				t.Errorf("%s is public: %t, want %t", a, got, want)
			}
		}
	}
	if hosts.Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}
