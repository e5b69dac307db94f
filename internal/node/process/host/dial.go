package host

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/stint-dev/stint/internal/node/process/wire"
)

// dialTimeout is for a pod that drops packets. One that does not listen refuses at once.
const dialTimeout = 10 * time.Second

// serveDial gives the control plane at the other end a connection to a pod: a socket stays in the network in which it was made.
func (h *Host) serveDial(conn *wire.Conn, hello wire.Hello) {
	socket, err := h.dial(hello)
	if err != nil {
		if conn.SendFiles(nil) == nil {
			_ = conn.Send(wire.Exit{Err: err.Error()})
		}
		return
	}
	defer socket.Close()
	raw, err := socket.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = conn.SendFiles([]int{int(fd)}) })
}

func (h *Host) dial(hello wire.Hello) (*net.TCPConn, error) {
	if hello.Dir != h.config.Dir || hello.Protocol != wire.Protocol {
		return nil, errors.New("the container host process is another one")
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	return h.sandbox.Dial(ctx, hello.Dial.Pod, hello.Dial.To)
}
