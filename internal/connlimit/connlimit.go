// Package connlimit keeps those who only open connections from keeping others out.
//
// Whoever connects is a stranger until a request of theirs has been let in. There is room for so many strangers; one more
// costs the oldest its connection. So there is always room for the next one, who may be the owner.
package connlimit

import (
	"container/list"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// most is the room for strangers where descriptors are plenty.
const most = 256

// MaxUnauthenticated is how many strangers there is room for: an eighth of the descriptors that this process may have, since the rest
// serves those who are known, and the store.
func MaxUnauthenticated() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return most
	}
	return int(min(max(limit.Cur/8, 8), most))
}

// Listener bounds the connections of strangers.
type Listener struct {
	net.Listener
	room int

	mu sync.Mutex
	// waiting are the strangers' connections, the oldest first; byAddress finds them by their remote address.
	waiting   *list.List
	byAddress map[string]*list.Element
}

// Limit gives strangers room in what l accepts.
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

// add returns the connection that must go for this one.
func (l *Listener) add(s *unauthenticatedConn) (oldest *unauthenticatedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byAddress[s.RemoteAddr().String()] = l.waiting.PushBack(s)
	if l.waiting.Len() > l.room {
		return l.waiting.Front().Value.(*unauthenticatedConn)
	}
	return nil
}

// MarkAuthenticated takes the connection from this address for one of somebody known, who may keep it.
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
