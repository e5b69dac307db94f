package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/network"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// podNetworks are the networks of the pods that have one of their own. They end with this process.
type podNetworks struct {
	// pods is the range of their addresses; if it is not valid, why says why there are no networks.
	pods netip.Prefix
	why  string
	ids  uint32

	mu sync.Mutex
	// network is nil until a pod has a network.
	network  *network.Network
	services runtime.Services
	of       map[types.UID]*network.Pod
	// ended are those of pods that have ended, until the timers fire.
	ended map[*network.Pod]*time.Timer

	nodePorts *network.NodePorts
}

func openPodNetworks(b *Sandbox) *podNetworks {
	n := &podNetworks{ids: b.config.IDs, of: map[types.UID]*network.Pod{}, ended: map[*network.Pod]*time.Timer{}}
	n.nodePorts = network.NewNodePorts(n.dialService)
	switch {
	case !b.staged:
		n.why = "this takes Linux 5.7 or newer, on amd64 or arm64"
	case !isRoot():
		n.why = "this takes root of this machine or of a user namespace"
	default:
		n.pods = network.Choose(network.OfMachine())
	}
	return n
}

// joinNetwork has the container start in the network of its pod, if that has one.
func (l *launch) joinNetwork() (err error) {
	c := l.container
	if c.Network == nil {
		return nil
	}
	l.network, err = l.sandbox.networks.namespace(c.PodUID, c.Network.Address)
	if err == nil || isLack(err) {
		return err
	}
	return startErrorf("the pod cannot have a network: %v", err)
}

// enterNetwork enters a network namespace, if there is one. The thread that forks does not: without root of the machine, it
// could not go back.
func (c *child) enterNetwork(namespace *os.File) {
	if namespace != nil {
		c.Do("enter the network of its pod", unix.SYS_SETNS, c.FD(int(namespace.Fd())), unix.CLONE_NEWNET)
	}
}

// namespace returns the network namespace of a pod. It is made for the pod's first container, and stays for the others.
func (n *podNetworks) namespace(uid types.UID, addr netip.Addr) (*os.File, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if pod := n.of[uid]; pod != nil {
		return pod.Namespace, nil
	}
	for other, pod := range n.of {
		if pod.Address == addr {
			return nil, fmt.Errorf("its address %s is that of pod %s", addr, other)
		}
	}
	for pod := range n.ended {
		if pod.Address == addr {
			n.end(pod)
		}
	}
	if err := n.open(); err != nil {
		return nil, err
	}
	pod, err := n.network.Attach(addr)
	if err != nil {
		return nil, err
	}
	n.of[uid] = pod
	return pod.Namespace, nil
}

func (n *podNetworks) open() error {
	if n.network != nil {
		return nil
	}
	if n.why != "" {
		return errors.New(n.why)
	}
	all, err := network.Open(network.Config{Pods: n.pods, Groups: n.ids})
	if err == nil {
		err = all.SetServices(n.services)
	}
	if err != nil && all != nil {
		all.Close()
		return err
	}
	n.network = all
	return err
}

// SetServices replaces the addresses of Services for pods that have a network, and the ports of the machine that lead to Services.
func (b *Sandbox) SetServices(s runtime.Services) (takenPorts []uint16, err error) {
	return b.networks.nodePorts.Set(s.Ports), b.networks.setServices(s)
}

func (n *podNetworks) setServices(s runtime.Services) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.services = s
	if n.network == nil {
		return nil
	}
	return n.network.SetServices(s)
}

// dialService connects to a port of a Service as the pods do. Where pods have no networks, they share the machine's.
func (n *podNetworks) dialService(ctx context.Context, port runtime.ServicePort) (*net.TCPConn, error) {
	if n.why != "" {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp4", port.Backends[rand.IntN(len(port.Backends))].String()) //nolint:gosec // it balances, it hides nothing
		if err != nil {
			return nil, err
		}
		return conn.(*net.TCPConn), nil
	}
	return n.dial(ctx, port.Address)
}

// dial connects from the network of all pods.
func (n *podNetworks) dial(ctx context.Context, to netip.AddrPort) (*net.TCPConn, error) {
	n.mu.Lock()
	err := n.open()
	all := n.network
	n.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return all.Dial(ctx, to)
}

// Dial connects from the network of a pod, or if pod is empty, from the network of all pods.
func (b *Sandbox) Dial(ctx context.Context, pod types.UID, to netip.AddrPort) (*net.TCPConn, error) {
	n := b.networks
	if pod == "" {
		return n.dial(ctx, to)
	}
	n.mu.Lock()
	p := n.of[pod]
	n.mu.Unlock()
	if p == nil {
		return nil, errors.New("the pod has no network: none of its containers has started")
	}
	return p.Dial(ctx, to)
}

// maxEnded bounds what the networks of pods that have ended take of the kernel's memory, where many pods end at a time.
const maxEnded = 100

// remove lets the network of a pod end, after a while.
func (n *podNetworks) remove(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	pod := n.of[uid]
	if pod == nil {
		return
	}
	delete(n.of, uid)
	if len(n.ended) == maxEnded {
		pod.Close()
		return
	}
	n.ended[pod] = time.AfterFunc(network.Lingers, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.end(pod)
	})
}

// end has no effect on a network that has been ended.
func (n *podNetworks) end(pod *network.Pod) {
	if timer := n.ended[pod]; timer != nil {
		timer.Stop()
		pod.Close()
		delete(n.ended, pod)
	}
}

func (n *podNetworks) close() {
	n.nodePorts.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, pod := range n.of {
		pod.Close()
	}
	for pod := range n.ended {
		n.end(pod)
	}
	if n.network != nil {
		n.network.Close()
	}
}
