package host

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// session is one connected control plane.
type session struct {
	host *Host
	conn *wire.Conn
	out  *wire.Queue[any]

	mu sync.Mutex
	// cancels end the requests that are being carried out, by their Seq.
	cancels map[uint64]context.CancelFunc
}

// serve accepts control planes until the listener is closed.
func (h *Host) serve(listener *net.UnixListener) {
	for {
		socket, err := listener.AcceptUnix()
		if err != nil {
			return
		}
		go h.serveConn(wire.NewConn(socket))
	}
}

func (h *Host) serveConn(conn *wire.Conn) {
	defer conn.Close()
	if err := conn.CheckPeer(); err != nil {
		slog.Warn("Refused a connection", "err", err)
		return
	}
	var hello wire.Hello
	if conn.Receive(&hello) != nil {
		return
	}
	switch {
	case hello.Exec != nil:
		h.serveExec(conn, hello)
		return
	case hello.Attach != nil:
		h.serveAttach(conn, hello)
		return
	case hello.Dial != nil:
		h.serveDial(conn, hello)
		return
	}
	s, welcome := h.admit(conn, hello)
	if conn.Send(welcome) != nil || s == nil {
		h.leave(s)
		return
	}
	s.out = wire.NewQueue(conn, pack)
	h.mu.Lock()
	h.sessions[s] = true
	h.mu.Unlock()
	s.read()
	h.leave(s)
	s.out.Close()
}

// admit decides whether the control plane can be served, and counts it if so.
func (h *Host) admit(conn *wire.Conn, hello wire.Hello) (*session, wire.Welcome) {
	orphaned := h.owner.HasLeft() // Not under the lock: a disk may be slow.
	h.mu.Lock()
	defer h.mu.Unlock()
	w := wire.Welcome{Protocol: wire.Protocol, Live: h.live, Info: h.sandbox.Info(), Program: wire.Program(wire.Self),
		DataDir: h.owner.ID(), Orphaned: orphaned}
	switch {
	case h.closing:
		w.Refused = "it is ending"
	case hello.Dir != h.config.Dir:
		w.Refused = fmt.Sprintf("it runs the containers of %s, not of %s: if that was moved, let the containers end first",
			h.config.Dir, hello.Dir)
	case hello.Protocol != wire.Protocol:
		w.Refused = fmt.Sprintf("it speaks version %d of the protocol and was asked for version %d",
			wire.Protocol, hello.Protocol)
	}
	if hello.Replace && !h.stays() { // It may not have noticed yet that a control plane has hung up.
		h.end()
		w.Refused = "it is ending"
	}
	if w.Refused != "" {
		w.Stays = h.stays()
		return nil, w
	}
	h.hadControlPlane = true
	s := &session{host: h, conn: conn, cancels: map[uint64]context.CancelFunc{}}
	// It counts as a control plane, but gets no events before its queue exists.
	h.sessions[s] = false
	h.updateIdleTimer()
	return s, w
}

// stays reports whether there are containers, or control planes that have not hung up. The caller holds h.mu.
func (h *Host) stays() bool {
	for s := range h.sessions {
		if !s.conn.HungUp() {
			return true
		}
	}
	return h.live > 0
}

func (h *Host) leave(s *session) {
	if s == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, s)
	h.updateIdleTimer()
}

// read handles requests until the control plane hangs up. Those that visit files end then, and the next control plane asks again.
func (s *session) read() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		var r wire.Request
		if s.conn.Receive(&r) != nil {
			return
		}
		// Each in its own goroutine: a start takes a millisecond, and thousands may be asked for at once.
		switch r.Op {
		case wire.OpStart:
			go s.start(r)
		case wire.OpCancel:
			s.cancel(r.Seq)
		default:
			ctx := s.begin(ctx, r.Seq)
			go func() {
				defer s.cancel(r.Seq)
				s.out.Put(s.host.answer(ctx, r))
			}()
		}
	}
}

// begin returns a context for a request, until cancel.
func (s *session) begin(ctx context.Context, seq uint64) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancels[seq] = cancel
	return ctx
}

func (s *session) cancel(seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.cancels[seq]; cancel != nil {
		cancel()
		delete(s.cancels, seq)
	}
}

func (s *session) start(r wire.Request) {
	e, process, err := s.host.start(r.Container)
	if err != nil {
		s.out.Put(wire.Reply{Seq: r.Seq, Err: err.Error()})
		return
	}
	s.tell(r.Seq, e)
	if process == nil {
		s.host.tellOthers(s, e)
		return
	}
	// In this goroutine, whose stack has grown already.
	s.host.supervise(e, process, r.Container.LogPath)
}

// tell replies what has become of an attempt to start a container.
func (s *session) tell(seq uint64, e *entry) {
	// Under the lock, so that the reply that it runs is sent before its end.
	e.mu.Lock()
	defer e.mu.Unlock()
	reply := wire.Reply{Seq: seq, Statuses: []runtime.Status{e.status}}
	if e.failure != nil {
		reply.Err = e.failure.Error()
	}
	s.out.Put(reply)
}

func (h *Host) answer(ctx context.Context, r wire.Request) wire.Reply {
	reply := wire.Reply{Seq: r.Seq}
	var err error
	switch r.Op {
	case wire.OpStop:
		for _, id := range r.IDs {
			err = h.stop(id, r.Grace)
		}
	case wire.OpList:
		reply.Statuses = h.list()
	case wire.OpForget:
		err = h.forget(r.IDs)
	case wire.OpRemovePod:
		err = h.removePod(ctx, r.PodUID, r.Dir)
	case wire.OpRemoveVolume:
		err = h.removeVolume(ctx, r.Dir)
	case wire.OpShare:
		err = beneath.ShareAt(ctx, r.Dir, beneath.Share{Group: r.Group})
	case wire.OpShareToWrite:
		err = beneath.ShareAt(ctx, r.Dir, beneath.Share{Group: r.Group, Write: true, OnMismatch: r.OnMismatch})
	case wire.OpSetServices:
		reply.TakenPorts, err = h.sandbox.SetServices(*r.Services)
	case wire.OpMeasure:
		reply.Usage, err = h.measure(ctx, r.IDs, r.Dirs)
	case wire.OpResourceUsage:
		reply.ResourceUsage = h.resourceUsage(r.IDs)
	default:
		err = fmt.Errorf("the host process does not know the operation %q: it is older than the control plane", r.Op)
	}
	if err != nil {
		reply.Err = err.Error()
	}
	return reply
}

// sendEvent sends what has become of a container to every connected control plane.
func (h *Host) sendEvent(s runtime.Status) { h.sendEventExcept(nil, s) }

func (h *Host) sendEventExcept(except *session, s runtime.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for session, listens := range h.sessions {
		if listens && session != except {
			session.out.Put(s)
		}
	}
}

// tellOthers sends what has become of a start that has failed to all control planes but the one that has the reply. That one may have gone
// while the start hung, and the next one takes the container for one that runs.
func (h *Host) tellOthers(asked *session, e *entry) {
	if !e.isEnded() {
		return
	}
	s := e.current()
	if s.State == runtime.Running { // The machine could not try.
		s.State, s.ExitCode, s.StartError, s.FinishedAt = runtime.Exited, 128, e.failure.Error(), time.Now()
	}
	h.sendEventExcept(asked, s)
}

// pack sends all queued values as one batch.
func pack(conn *wire.Conn, values []any) error {
	var batch wire.Batch
	for _, v := range values {
		switch v := v.(type) {
		case wire.Reply:
			batch.Replies = append(batch.Replies, v)
		case runtime.Status:
			batch.Events = append(batch.Events, v)
		}
	}
	return conn.Send(batch)
}
