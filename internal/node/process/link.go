package process

import (
	"context"
	"errors"
	"sync"

	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/internal/node/runtime"
)

var (
	errDisconnected = errors.New("the container host process has hung up")
	errClosed       = errors.New("the container runtime is closed")
)

// link is one connection to one host process.
type link struct {
	conn *wire.Conn
	out  *wire.Queue[wire.Request]
	info runtime.Info
	// runDir is where the host has its socket.
	runDir string
	// child is the host's process id if this process has started it, or else 0.
	child int
	// hostLifetime is that of the host, which need not be a child of this process.
	hostLifetime *hostLifetime
	// broken is closed when the host has hung up.
	broken chan struct{}

	mu      sync.Mutex
	seq     uint64
	waiting map[uint64]chan wire.Reply
}

func newLink(conn *wire.Conn, welcome wire.Welcome) *link {
	return &link{
		conn:         conn,
		hostLifetime: lifetimeOf(conn),
		info:         welcome.Info,
		broken:       make(chan struct{}),
		waiting:      map[uint64]chan wire.Reply{},
		out: wire.NewQueue(conn, func(c *wire.Conn, requests []wire.Request) error {
			for i := range requests {
				if err := c.Encode(&requests[i]); err != nil {
					return err
				}
			}
			return c.Flush()
		}),
	}
}

// read handles replies and events until the host hangs up.
func (l *link) read(event func(runtime.Status)) {
	defer close(l.broken)
	for {
		var batch wire.Batch
		if l.conn.Receive(&batch) != nil {
			return
		}
		for _, reply := range batch.Replies {
			l.mu.Lock()
			waiting := l.waiting[reply.Seq]
			delete(l.waiting, reply.Seq)
			l.mu.Unlock()
			if waiting != nil {
				waiting <- reply
			}
		}
		for _, s := range batch.Events {
			event(s)
		}
	}
}

func (l *link) ask(ctx context.Context, request wire.Request) (wire.Reply, error) {
	answer := make(chan wire.Reply, 1)
	l.mu.Lock()
	l.seq++
	request.Seq = l.seq
	l.waiting[request.Seq] = answer
	l.mu.Unlock()
	l.out.Put(request)
	select {
	case reply := <-answer:
		if reply.Err != "" {
			return reply, errors.New(reply.Err)
		}
		return reply, nil
	case <-l.broken:
		return wire.Reply{}, errDisconnected
	case <-ctx.Done():
		l.mu.Lock()
		delete(l.waiting, request.Seq)
		l.mu.Unlock()
		l.out.Put(wire.Request{Op: wire.OpCancel, Seq: request.Seq})
		return wire.Reply{}, ctx.Err()
	}
}

func (l *link) close() {
	l.out.Close()
	l.conn.Close()
}

// links holds the current link.
type links struct {
	mu      sync.Mutex
	changed chan struct{}
	current *link
	last    runtime.Info
	failure error
}

func newLinks() *links { return &links{changed: make(chan struct{})} }

func (s *links) set(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current = l; l != nil {
		s.last = l.info
		s.failure = nil
	}
	s.wake()
}

// fail makes wait return err until there is a new link.
func (s *links) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
	s.wake()
}

func (s *links) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.failure = nil, errClosed
	s.wake()
}

func (s *links) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *links) info() runtime.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// wait returns the current link, or waits for the next one.
func (s *links) wait(ctx context.Context) (*link, error) {
	for {
		s.mu.Lock()
		current, failure, changed := s.current, s.failure, s.changed
		s.mu.Unlock()
		switch {
		case failure != nil:
			return nil, failure
		case current != nil && !current.isBroken():
			return current, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *link) isBroken() bool {
	select {
	case <-l.broken:
		return true
	default:
		return false
	}
}
