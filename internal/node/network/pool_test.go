package network

import (
	"net/netip"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

func TestARangeAvoidsTheMachinesNetworks(t *testing.T) {
	for name, c := range map[string]struct {
		machine []string
		want    string
	}{
		"a machine without networks":                 {nil, "10.244.0.0/16"},
		"a default route is not a network":           {[]string{"0.0.0.0/0"}, "10.244.0.0/16"},
		"a network beside it":                        {[]string{"10.243.0.0/16", "192.168.1.0/24"}, "10.244.0.0/16"},
		"a part of it":                               {[]string{"10.244.7.0/24"}, "10.243.0.0/16"},
		"a network around it":                        {[]string{"10.128.0.0/9"}, "172.31.0.0/16"},
		"all private networks, as in some companies": {[]string{"10.0.0.0/8", "172.16.0.0/12"}, "10.244.0.0/16"},
	} {
		var machine []netip.Prefix
		for _, m := range c.machine {
			machine = append(machine, netip.MustParsePrefix(m))
		}
		if got := Choose(machine).String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestServicesGetARangeThatTheMachineDoesNotHave(t *testing.T) {
	if got := ChooseForServices(nil).String(); got != "10.96.0.0/16" {
		t.Errorf("without networks: %s", got)
	}
	machine := []netip.Prefix{netip.MustParsePrefix("10.96.7.0/24"), netip.MustParsePrefix("10.95.0.0/16")}
	if got := ChooseForServices(machine).String(); got != "10.94.0.0/16" {
		t.Errorf("beside two networks: %s", got)
	}
	for _, pods := range candidates() {
		for _, services := range serviceCandidates() {
			if pods.Overlaps(services) {
				t.Errorf("%s is for pods and Services", services)
			}
		}
	}
}

// Whatever pods come and go, no two have the same address, and each can be that of a pod.
func TestNoTwoPodsHaveAnAddress(t *testing.T) {
	pods := netip.MustParsePrefix("10.1.2.0/28")
	rapid.Check(t, func(t *rapid.T) {
		pool, of := NewPool(pods), map[types.UID]netip.Addr{}
		uid := rapid.Custom(func(t *rapid.T) types.UID { return types.UID(rapid.StringMatching("[a-t]").Draw(t, "uid")) })
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				pod := uid.Draw(t, "pod")
				addr, err := pool.Take(pod)
				if err != nil && len(of) < 13 {
					t.Fatalf("with %d of 13 addresses: %v", len(of), err)
				}
				if before, had := of[pod]; had && before != addr {
					t.Fatalf("its address was %s and is %s", before, addr)
				}
				if err == nil {
					of[pod] = addr
				}
			},
			"keep": func(t *rapid.T) {
				pod, addr := uid.Draw(t, "pod"), netip.AddrFrom4([4]byte{10, 1, 2, byte(rapid.IntRange(2, 14).Draw(t, "address"))})
				pool.Keep(pod, addr)
				if pool.of[pod] == addr {
					of[pod] = addr
				}
			},
			"release": func(t *rapid.T) {
				pod := uid.Draw(t, "pod")
				pool.Release(pod)
				delete(of, pod)
			},
			"": func(t *rapid.T) {
				seen := map[netip.Addr]bool{}
				for pod, addr := range of {
					last := addr.As4()[3]
					if seen[addr] || !pods.Contains(addr) || last < 2 || last > 14 {
						t.Fatalf("%s has %s: %v", pod, addr, of)
					}
					seen[addr] = true
				}
			},
		})
	})
}

func TestAnAddressIsUsedAgainLate(t *testing.T) {
	pool := NewPool(netip.MustParsePrefix("10.1.2.0/29"))
	var got []string
	for range 7 {
		addr, err := pool.Take("a")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, addr.String()[len("10.1.2."):])
		pool.Release("a")
	}
	if s := strings.Join(got, " "); s != "2 3 4 5 6 2 3" {
		t.Error(s)
	}
}

func TestAPoolThatIsFullSaysSo(t *testing.T) {
	pool := NewPool(netip.MustParsePrefix("10.1.2.0/30"))
	if _, err := pool.Take("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Take("b"); err == nil || !strings.Contains(err.Error(), "all addresses of 10.1.2.0/30") {
		t.Error(err)
	}
	pool.Release("a")
	if _, err := pool.Take("b"); err != nil {
		t.Error(err)
	}
}
