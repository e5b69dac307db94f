package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// podLink is the interface of a pod.
const podLink = "eth0"

// Pod is the network of one pod.
type Pod struct {
	// Namespace is its network namespace, which its containers enter.
	Namespace *os.File
	Address   netip.Addr
}

// Attach makes a network namespace with that address. It is there until it is closed and no process is in it any more.
func (n *Network) Attach(addr netip.Addr) (*Pod, error) {
	if !n.pods.Contains(addr) || addr == n.gateway {
		return nil, fmt.Errorf("%s is not an address for a pod: pods have addresses in %s", addr, n.pods)
	}
	var inPod *netlink.Handle
	ns, err := newNamespace(func() (err error) {
		if err := n.settings.write(); err != nil {
			return err
		}
		inPod, err = netlink.NewHandle(unix.NETLINK_ROUTE)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("make the network of a pod: %w", err)
	}
	defer inPod.Close()
	p := &Pod{Namespace: ns, Address: addr}
	link, err := n.connect(p)
	if err == nil {
		err = p.setUp(inPod, n.gateway)
	}
	if err == nil {
		err = n.awaitUp(link)
	}
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("connect the network of a pod: %w", err)
	}
	return p, nil
}

// Close lets the network end.
func (p *Pod) Close() { p.Namespace.Close() }

// connect makes the link between the pod and the network of all pods, and routes the pod's address to it.
func (n *Network) connect(p *Pod) (link *netlink.Veth, err error) {
	link = &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: linkName(p.Address), Flags: net.FlagUp},
		PeerName:  podLink, PeerNamespace: netlink.NsFd(p.Namespace.Fd()),
	}
	err = n.links.LinkAdd(link)
	if errors.Is(err, unix.EEXIST) {
		// The one who had this address before is gone, and the kernel has not yet come to remove its link.
		if err = n.removeLink(link.Name); err == nil {
			err = n.links.LinkAdd(link)
		}
	}
	if err != nil {
		return nil, err
	}
	return link, n.links.RouteReplace(&netlink.Route{
		LinkIndex: link.Index, Scope: netlink.SCOPE_LINK, Dst: host(p.Address), Src: n.gateway.AsSlice(),
	})
}

// removeLink has no effect on a link that the kernel has removed meanwhile.
func (n *Network) removeLink(name string) error {
	link, err := n.links.LinkByName(name)
	if err == nil {
		err = n.links.LinkDel(link)
	}
	if errors.As(err, new(netlink.LinkNotFoundError)) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}

// awaitUp waits until packets pass to the pod. Until then the kernel would drop them, and a connection would take a second.
// Since Linux 6.8 the kernel catches up when it is asked.
func (n *Network) awaitUp(link *netlink.Veth) error {
	for range 100 {
		now, err := n.links.LinkByIndex(link.Index)
		if err != nil || now.Attrs().OperState == netlink.OperUp {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the link does not come up")
}

// setUp sets up the pod's side.
func (p *Pod) setUp(inPod *netlink.Handle, gateway netip.Addr) error {
	if err := inPod.LinkSetUp(loopback); err != nil {
		return err
	}
	link, err := inPod.LinkByName(podLink)
	if err != nil {
		return err
	}
	index := link.Attrs().Index
	return errors.Join(
		inPod.AddrAdd(link, &netlink.Addr{IPNet: host(p.Address)}),
		inPod.LinkSetUp(link),
		inPod.RouteAdd(&netlink.Route{LinkIndex: index, Scope: netlink.SCOPE_LINK, Dst: host(gateway)}),
		inPod.RouteAdd(&netlink.Route{LinkIndex: index, Gw: gateway.AsSlice()}))
}

// loopback is the same in each network namespace.
var loopback = &netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: "lo", Index: 1}}

// linkName is unique among the pods and short enough for an interface.
func linkName(addr netip.Addr) string { return fmt.Sprintf("pod%x", addr.AsSlice()) }

// host is the network of one address.
func host(addr netip.Addr) *net.IPNet { return network(netip.PrefixFrom(addr, addr.BitLen())) }

func network(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// Dial connects from the pod to a TCP port.
func (p *Pod) Dial(ctx context.Context, to netip.AddrPort) (*net.TCPConn, error) {
	return dialInside(ctx, p.Namespace, to)
}
