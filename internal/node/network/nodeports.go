package network

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// NodePorts are the ports of the machine's loopback address that lead to Services. Nothing listens where no Service has one.
type NodePorts struct {
	dial   DialService
	ctx    context.Context
	cancel context.CancelFunc
	free   chan struct{}
	open   sync.WaitGroup

	mu        sync.Mutex
	wanted    map[uint16]runtime.ServicePort
	listeners map[uint16]*nodePort
	// again opens the ports that were taken.
	again *time.Timer
}

// retryAfter is when a port that another program has is tried again.
const retryAfter = time.Second

// DialService connects to one of the backends of a port. There are some.
type DialService func(ctx context.Context, port runtime.ServicePort) (*net.TCPConn, error)

// nodePort is a port that is open.
type nodePort struct {
	listener *net.TCPListener
	mu       sync.Mutex
	service  runtime.ServicePort
}

// NewNodePorts opens none yet.
func NewNodePorts(dial DialService) *NodePorts {
	n := &NodePorts{dial: dial, free: make(chan struct{}, maxConnections()), listeners: map[uint16]*nodePort{}}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.again = time.AfterFunc(retryAfter, n.tryAgain)
	n.again.Stop()
	return n
}

// Set opens the node ports of Services, and closes all others. Connections that exist stay. It returns those that another
// program has taken. They are opened when they are free.
func (n *NodePorts) Set(ports []runtime.ServicePort) (taken []uint16) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wanted = map[uint16]runtime.ServicePort{}
	for _, p := range ports {
		if p.NodePort != 0 {
			n.wanted[p.NodePort] = p
		}
	}
	for number, open := range n.listeners {
		if _, is := n.wanted[number]; !is {
			open.listener.Close()
			delete(n.listeners, number)
		}
	}
	return n.openAll()
}

func (n *NodePorts) openAll() (taken []uint16) {
	for number, service := range n.wanted {
		if !n.lead(number, service) {
			taken = append(taken, number)
		}
	}
	n.again.Stop()
	if len(taken) > 0 {
		n.again.Reset(retryAfter)
	}
	slices.Sort(taken)
	return taken
}

func (n *NodePorts) tryAgain() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.openAll()
}

// lead has a port lead to a Service. It returns false if the port cannot be opened.
func (n *NodePorts) lead(number uint16, service runtime.ServicePort) bool {
	if open := n.listeners[number]; open != nil {
		open.set(service)
		return true
	}
	at := netip.AddrPortFrom(loopbackAddress, number)
	listener, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(at))
	if err != nil {
		return false
	}
	open := &nodePort{listener: listener, service: service}
	n.listeners[number] = open
	n.open.Go(func() {
		acceptAll(n.ctx, listener, n.free, &n.open, func(client *net.TCPConn) { n.pass(client, open.get()) })
	})
	return true
}

// dialTimeout is for a backend that is lost while it is connected to. One that does not listen refuses at once.
const dialTimeout = 10 * time.Second

// pass connects a client with a backend. If that is not possible, it resets the connection.
func (n *NodePorts) pass(client *net.TCPConn, service runtime.ServicePort) {
	defer client.Close()
	backend, err := n.connect(service)
	if err != nil {
		_ = client.SetLinger(0)
		return
	}
	joinUntil(n.ctx, client, backend)
}

func (n *NodePorts) connect(service runtime.ServicePort) (*net.TCPConn, error) {
	if len(service.Backends) == 0 {
		return nil, errors.New("no pod is ready")
	}
	ctx, cancel := context.WithTimeout(n.ctx, dialTimeout)
	defer cancel()
	return n.dial(ctx, service)
}

// Close closes all ports and their connections.
func (n *NodePorts) Close() {
	n.Set(nil)
	n.cancel()
	n.open.Wait()
}

func (p *nodePort) set(service runtime.ServicePort) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.service = service
}

func (p *nodePort) get() runtime.ServicePort {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.service
}
