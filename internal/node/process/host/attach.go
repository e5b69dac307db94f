package host

import (
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/wire"
)

// serveAttach passes on the streams of a container until it ends or the control plane at the other end hangs up.
func (h *Host) serveAttach(conn *wire.Conn, hello wire.Hello) {
	e, l, streams, err := h.attach(hello)
	sent := conn.SendFiles(streams)
	for _, fd := range streams {
		unix.Close(fd)
	}
	if err != nil {
		_ = conn.Send(wire.Exit{Err: err.Error()})
		return
	}
	if sent != nil {
		l.end("")
		return
	}
	go func() {
		// Nothing is ever received.
		_ = conn.Receive(new(struct{}))
		l.end("")
	}()
	<-l.ended
	e.listeners.remove(l)
	_ = conn.Send(wire.Exit{Err: l.reason})
}

// attach returns the entry of a container, a listener to it, and the other ends of its pipes, after the container's standard input.
func (h *Host) attach(hello wire.Hello) (*entry, *listener, []int, error) {
	e, p, err := h.running(hello, hello.Attach.ID)
	if err != nil {
		return nil, nil, nil, err
	}
	input, err := p.Input(hello.Attach.Stdin)
	if err != nil {
		return nil, nil, nil, err
	}
	streams := []int{input}
	l := &listener{ended: make(chan struct{})}
	for range p.Outputs() {
		read, write, err := pipe()
		if err != nil {
			l.end("")
			return nil, nil, streams, err
		}
		streams, l.pipes = append(streams, read), append(l.pipes, write)
	}
	e.listeners.add(l)
	return e, l, streams, nil
}

// pipeSize is how much a client may lag behind, where the kernel allows.
const pipeSize = 1 << 20

func pipe() (read int, write *os.File, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return -1, nil, err
	}
	_, _ = unix.FcntlInt(uintptr(ends[1]), unix.F_SETPIPE_SZ, pipeSize)
	return ends[0], os.NewFile(uintptr(ends[1]), "attached client"), nil
}

// listener is a client that is attached to a container.
type listener struct {
	// pipes are those of the output and the error output, or that of the terminal.
	pipes []*os.File
	once  sync.Once
	ended chan struct{}
	// reason is why it was disconnected; empty if the container has ended, or the client is gone.
	reason string
}

func (l *listener) end(reason string) {
	l.once.Do(func() {
		l.reason = reason
		for _, p := range l.pipes {
			p.Close()
		}
		close(l.ended)
	})
}

// clientTimeout is how long a client that does not read may keep a container from printing.
const clientTimeout = 5 * time.Second

// write passes data on, and ends a client that does not take it.
func (l *listener) write(stream int, data []byte) (ok bool) {
	_ = l.pipes[stream].SetWriteDeadline(time.Now().Add(clientTimeout))
	_, err := l.pipes[stream].Write(data)
	if err != nil {
		l.end("the client has read too slowly what the container prints, and was disconnected; the log has all of it")
	}
	return err == nil
}

// listeners are the clients that are attached to a container.
type listeners struct {
	mu    sync.Mutex
	all   []*listener
	ended bool
}

func (s *listeners) add(l *listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		l.end("")
		return
	}
	s.all = append(s.all, l)
}

// write does not hold the lock while it waits for a client.
func (s *listeners) write(stream int, data []byte) {
	s.mu.Lock()
	all := slices.Clone(s.all)
	s.mu.Unlock()
	for _, l := range all {
		if !l.write(stream, data) {
			s.remove(l)
		}
	}
}

func (s *listeners) remove(l *listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(other *listener) bool { return other == l })
}

// end disconnects all clients, because the container has ended and all that it has printed was passed on.
func (s *listeners) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, l := range s.all {
		l.end("")
	}
}
