package network

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// maxConnections bounds the connections that leave the network at a time, and those to node ports, so that a pod cannot take all
// descriptors of this process. Further ones wait. A connection takes six: two sockets, and a pipe for each direction. So both kinds
// together take at most half of all.
var maxConnections = sync.OnceValue(func() int {
	const most, least = 4096, 64
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return least
	}
	return int(max(least, min(most, limit.Cur/24)))
})

// egress takes the TCP connections that pods make to what is not in their network, and makes them anew from the machine.
type egress struct {
	gateway  netip.Addr
	listener *net.TCPListener
	ctx      context.Context
	cancel   context.CancelFunc
	services atomic.Pointer[outside]
	free     chan struct{}
	// shares are connections too: of those that wait for a target that is lost, one pod has at most half.
	shares *shares
	open   sync.WaitGroup
}

// newEgress listens in the network namespace of the calling thread.
func newEgress(gateway netip.Addr) (*egress, error) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: gateway.AsSlice(), Port: egressPort})
	if err != nil {
		return nil, err
	}
	e := &egress{gateway: gateway, listener: listener, free: make(chan struct{}, maxConnections()), shares: newShares(maxConnections()/2, maxConnections())}
	e.services.Store(&outside{})
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e, nil
}

func (e *egress) start() {
	e.open.Go(func() { acceptAll(e.ctx, e.listener, e.free, &e.open, e.pass) })
}

// acceptAll passes each connection on, as many at a time as are free, until ctx ends or the listener is closed.
func acceptAll(ctx context.Context, listener *net.TCPListener, free chan struct{}, open *sync.WaitGroup, pass func(*net.TCPConn)) {
	for {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		conn, err := listener.AcceptTCP()
		if err != nil {
			<-free
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			rest(ctx)
			continue
		}
		open.Go(func() {
			pass(conn)
			<-free
		})
	}
}

// rest waits a little where accepting has failed, which is when descriptors are short.
func rest(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Millisecond):
	}
}

// pass connects a pod with what it wants to reach. If that is not possible, it resets the connection.
func (e *egress) pass(pod *net.TCPConn) {
	defer pod.Close()
	from := remote(pod.RemoteAddr())
	if !e.shares.take(from) {
		_ = pod.SetLinger(0)
		return
	}
	defer e.shares.give(from)
	to, err := originalTarget(pod)
	if err != nil {
		return
	}
	to = e.services.Load().target(from, to)
	far, err := new(net.Dialer).DialContext(e.ctx, "tcp4", e.onMachine(to).String())
	if err != nil {
		_ = pod.SetLinger(0)
		return
	}
	joinUntil(e.ctx, pod, far.(*net.TCPConn))
}

// loopbackAddress is the same in each network namespace.
var loopbackAddress = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// onMachine is the address by which the machine knows a target: the gateway is its loopback address.
func (e *egress) onMachine(to netip.AddrPort) netip.AddrPort {
	if to.Addr() == e.gateway {
		return netip.AddrPortFrom(loopbackAddress, to.Port())
	}
	return to
}

// joinUntil joins two connections until both have ended, or ctx has. It closes them.
func joinUntil(ctx context.Context, a, b *net.TCPConn) {
	closeBoth := func() {
		a.Close()
		b.Close()
	}
	defer closeBoth()
	stop := context.AfterFunc(ctx, closeBoth)
	defer stop()
	join(a, b)
}

// join passes on what either side sends, and its end, until both have ended.
func join(a, b *net.TCPConn) {
	var there sync.WaitGroup
	there.Go(func() { send(a, b) })
	send(b, a)
	there.Wait()
}

// send copies without a buffer of this process: the kernel moves the bytes.
func send(from, to *net.TCPConn) {
	if _, err := io.Copy(to, from); err != nil {
		// A reset is passed on as one.
		_ = to.SetLinger(0)
		to.Close()
		from.Close()
		return
	}
	_ = to.CloseWrite()
}

// originalTarget is where a connection was going before the rules have led it here.
func originalTarget(conn *net.TCPConn) (to netip.AddrPort, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return to, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		// The value is a struct sockaddr_in, which has the size of the address in a struct ipv6_mreq.
		var value *unix.IPv6Mreq
		if value, failed = unix.GetsockoptIPv6Mreq(int(fd), unix.IPPROTO_IP, unix.SO_ORIGINAL_DST); failed == nil {
			raw := value.Multiaddr
			to = netip.AddrPortFrom(netip.AddrFrom4([4]byte(raw[4:8])), uint16(raw[2])<<8|uint16(raw[3]))
		}
	})
	if err == nil {
		err = failed
	}
	return to, err
}

func (e *egress) close() {
	e.cancel()
	e.listener.Close()
	e.open.Wait()
}
