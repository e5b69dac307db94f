package prober

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/stint-dev/stint/internal/node/probe"
)

const loopback = "127.0.0.1"

// Dialer connects to what pods serve.
type Dialer struct {
	// Machine is the address of this machine, which pods have that share its network.
	Machine string
	// Networks has the addresses of pods with a network of their own. Reach connects to them.
	Networks netip.Prefix
	Reach    func(context.Context, netip.AddrPort) (net.Conn, error)
}

// dial connects to an address. That of the machine is looked for at the loopback address first.
func (d Dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if to, err := netip.ParseAddrPort(address); err == nil && d.Networks.Contains(to.Addr()) {
		return d.Reach(ctx, to)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var direct net.Dialer
	if host == d.Machine && host != loopback {
		if conn, err := direct.DialContext(ctx, network, net.JoinHostPort(loopback, port)); err == nil {
			return conn, nil
		}
	}
	return direct.DialContext(ctx, network, address)
}

// address returns host and port of what a handler names. Without a host it is the pod's.
func (c Container) address(host string, port intstr.IntOrString) (string, error) {
	number, err := portOf(c.Spec, port)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(cmp.Or(host, c.PodIP), strconv.Itoa(number)), nil
}

// portOf returns the number of a port, which may be named by the container's ports.
func portOf(c *corev1.Container, port intstr.IntOrString) (int, error) {
	if port.Type == intstr.Int {
		return int(port.IntVal), nil
	}
	for _, p := range c.Ports {
		if p.Name == port.StrVal {
			return int(p.ContainerPort), nil
		}
	}
	if number, err := strconv.Atoi(port.StrVal); err == nil {
		return number, nil
	}
	return 0, fmt.Errorf("container %s has no port with the name %q: add it to the container's ports, or use its number", c.Name, port.StrVal)
}

func (p *Prober) tcpSocket(ctx context.Context, c Container, s *corev1.TCPSocketAction) (Outcome, error) {
	address, err := c.address(s.Host, s.Port)
	if err != nil {
		return Outcome{}, err
	}
	conn, err := p.dial.dial(ctx, "tcp", address)
	if err != nil {
		return failed("%v", err), nil
	}
	_ = conn.Close()
	return Outcome{Result: probe.Success}, nil
}
