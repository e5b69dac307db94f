package host

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/sandbox"
	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// serveExec runs a command in a container for the control plane at the other end. The command is ended when that hangs up.
func (h *Host) serveExec(conn *wire.Conn, hello wire.Hello) {
	command, streams, err := h.exec(hello)
	sent := conn.SendFiles(streams)
	for _, fd := range streams {
		unix.Close(fd)
	}
	if err != nil {
		_ = conn.Send(failedExit(err))
		return
	}
	if sent != nil {
		command.HangUp()
	} else {
		go func() {
			// Nothing is ever received.
			_ = conn.Receive(new(struct{}))
			command.HangUp()
		}()
	}
	_ = conn.Send(wire.Exit{Code: command.Wait()})
}

func (h *Host) exec(hello wire.Hello) (*sandbox.Command, []int, error) {
	if hello.Dir != h.config.Dir || hello.Protocol != wire.Protocol {
		return nil, nil, errors.New("the container host process is another one")
	}
	p := h.processOf(hello.Exec.ID)
	if p == nil {
		return nil, nil, fmt.Errorf("container %q does not run", hello.Exec.ID.Container)
	}
	return p.Exec(hello.Exec.Args, hello.Exec.TTY)
}

// processOf returns the process of a running attempt; nil if it does not run.
func (h *Host) processOf(id runtime.ID) *sandbox.Process {
	h.mu.Lock()
	e := h.entries[id]
	h.mu.Unlock()
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.process
}

func failedExit(err error) wire.Exit {
	var fault *sandbox.CommandError
	if errors.As(err, &fault) {
		return wire.Exit{Code: fault.Code, StartError: fault.Reason}
	}
	return wire.Exit{Err: err.Error()}
}
