// Package connlimit limits the connections without an authenticated request, so that clients without credentials cannot keep
// others from connecting.
//
// If a new connection exceeds the limit, the oldest unauthenticated one is closed. So a client with credentials can always
// connect.
package connlimit

import (
	"container/list"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// most is the highest limit.
const most = 256

// MaxUnauthenticated returns the limit: an eighth of the descriptors that this process may have, from 8 to 256. The others are for
// authenticated connections and the store.
func MaxUnauthenticated() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return most
	}
	return int(min(max(limit.Cur/8, 8), most))
}

// Listener limits unauthenticated connections.
type Listener struct {
	net.Listener
	room int

	mu sync.Mutex
	// waiting are the unauthenticated connections, oldest first; byAddress has them by remote address.
	waiting   *list.List
	byAddress map[string]*list.Element
}

// Limit returns a listener that accepts connections from l, of which room may be unauthenticated.
func Limit(l net.Listener, room int) *Listener {
	return &Listener{Listener: l, room: room, waiting: list.New(), byAddress: map[string]*list.Element{}}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	s := &unauthenticatedConn{Conn: c, of: l}
	if oldest := l.add(s); oldest != nil {
		_ = oldest.Close()
	}
	return s, nil
}

// add adds a connection, and returns the oldest one if it has to be closed.
func (l *Listener) add(s *unauthenticatedConn) (oldest *unauthenticatedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byAddress[s.RemoteAddr().String()] = l.waiting.PushBack(s)
	if l.waiting.Len() > l.room {
		return l.waiting.Front().Value.(*unauthenticatedConn)
	}
	return nil
}

// MarkAuthenticated excludes the connection from this remote address from the limit.
func (l *Listener) MarkAuthenticated(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.byAddress[address]; e != nil {
		l.waiting.Remove(e)
		delete(l.byAddress, address)
	}
}

func (l *Listener) forget(s *unauthenticatedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	address := s.RemoteAddr().String()
	if e := l.byAddress[address]; e != nil && e.Value == s {
		l.waiting.Remove(e)
		delete(l.byAddress, address)
	}
}

type unauthenticatedConn struct {
	net.Conn
	of *Listener
}

// Close implements net.Conn.
func (s *unauthenticatedConn) Close() error {
	s.of.forget(s)
	return s.Conn.Close()
}
