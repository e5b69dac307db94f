package network

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Network is the network of all pods.
type Network struct {
	pods     netip.Prefix
	gateway  netip.Addr
	settings settings
	ns       *os.File
	links    *netlink.Handle
	rules    *rules
	egress   *egress
	dns      *nameServer
}

// Config is how a network is made.
type Config struct {
	// Pods is the range of their addresses.
	Pods netip.Prefix
	// Groups is how many group ids the user namespace of this process has; 0 is all.
	Groups uint32
	// Resolvers returns the machine's DNS servers; nil asks its settings.
	Resolvers func() []netip.AddrPort
}

// Open makes a network without pods.
func Open(config Config) (_ *Network, err error) {
	n := &Network{pods: config.Pods.Masked(), gateway: Gateway(config.Pods), settings: podSettings(groupsOf(config))}
	defer func() {
		if err != nil {
			n.Close()
		}
	}()
	n.ns, err = newNamespace(n.setUp)
	if err != nil {
		return nil, fmt.Errorf("make a network for pods: %w", err)
	}
	if config.Resolvers != nil {
		n.dns.resolvers = config.Resolvers
	}
	n.egress.start()
	n.dns.start()
	return n, nil
}

// maxGroups is one more than the largest group that ping_group_range can have.
const maxGroups = 1<<31 - 1

func groupsOf(config Config) uint32 {
	if config.Groups == 0 || config.Groups > maxGroups {
		return maxGroups
	}
	return config.Groups
}

// setUp runs in the namespace. The gateway's address is on the loopback interface, as the links to pods need none.
func (n *Network) setUp() (err error) {
	if err := routerSettings.write(); err != nil {
		return err
	}
	if n.links, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
		return err
	}
	if err := n.links.LinkSetUp(loopback); err != nil {
		return err
	}
	if err := n.links.AddrAdd(loopback, &netlink.Addr{IPNet: host(n.gateway)}); err != nil {
		return err
	}
	// Without a route, the rules would not see what is sent there. Where it leads does not matter: no packet goes there. The
	// routes of pods come before this one.
	if err := n.links.RouteAdd(&netlink.Route{LinkIndex: loopback.Index, Scope: netlink.SCOPE_LINK, Dst: all, Src: n.gateway.AsSlice()}); err != nil {
		return err
	}
	if n.rules, err = newRules(n.pods); err != nil {
		return fmt.Errorf("nftables: %w", err)
	}
	if n.egress, err = newEgress(n.gateway); err != nil {
		return err
	}
	n.dns, err = newNameServer(n.gateway, n.pods)
	return err
}

// all has every address.
var all = &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}

// SetServices replaces the addresses that stand for others.
func (n *Network) SetServices(s runtime.Services) error {
	n.dns.setNames(&s.Names)
	var out outside
	out, s.Ports = leadOut(s.Ports, n.pods)
	n.egress.services.Store(&out)
	return n.rules.set(s)
}

// Dial connects to a TCP port of a pod or a Service.
func (n *Network) Dial(ctx context.Context, to netip.AddrPort) (*net.TCPConn, error) {
	return dialInside(ctx, n.ns, to)
}

// Close ends the network. Pods that are still there can reach nothing any more.
func (n *Network) Close() {
	if n.egress != nil {
		n.egress.close()
	}
	if n.dns != nil {
		n.dns.close()
	}
	if n.rules != nil {
		n.rules.close()
	}
	if n.links != nil {
		n.links.Close()
	}
	if n.ns != nil {
		n.ns.Close()
	}
}

// OfMachine lists the networks that the machine has routes to, and its DNS servers. What it cannot find out it leaves out.
func OfMachine() []netip.Prefix {
	var all []netip.Prefix
	routes, _ := netlink.RouteList(nil, netlink.FAMILY_V4)
	for _, r := range routes {
		if r.Dst == nil {
			continue
		}
		if addr, ok := netip.AddrFromSlice(r.Dst.IP.To4()); ok {
			bits, _ := r.Dst.Mask.Size()
			all = append(all, netip.PrefixFrom(addr, bits))
		}
	}
	for _, server := range resolvers() {
		all = append(all, netip.PrefixFrom(server.Addr(), server.Addr().BitLen()))
	}
	return all
}
