package network

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// shares divides what all pods use: no pod gets more than each, and all together no more than all.
type shares struct {
	each, all int

	mu    sync.Mutex
	taken int
	of    map[netip.Addr]int
}

func newShares(each, all int) *shares { return &shares{each: each, all: all, of: map[netip.Addr]int{}} }

// take returns false if nothing is left for a pod.
func (s *shares) take(pod netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == s.all || s.of[pod] == s.each {
		return false
	}
	s.taken++
	s.of[pod]++
	return true
}

func (s *shares) give(pod netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.of[pod]--; s.of[pod] == 0 {
		delete(s.of, pod)
	}
}

// sharedListener closes connections for which nothing is left.
type sharedListener struct {
	net.Listener
	shares *shares
}

func (l *sharedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if pod := remote(conn.RemoteAddr()); l.shares.take(pod) {
			return &sharedConn{Conn: conn, give: sync.OnceFunc(func() { l.shares.give(pod) })}, nil
		}
		conn.Close()
	}
}

// sharedConn gives back its share when it is closed.
type sharedConn struct {
	net.Conn
	give func()
}

func (c *sharedConn) Close() error {
	defer c.give()
	return c.Conn.Close()
}

// writeTimeout is for a client that does not read.
const writeTimeout = 2 * time.Second

func (c *sharedConn) Write(data []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(data)
}

// remote is the address of a client.
func remote(addr net.Addr) netip.Addr {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}
