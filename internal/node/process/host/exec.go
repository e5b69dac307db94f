package host

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/sandbox"
	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// serveExec runs a command in a container for the control plane at the other end. The command is ended when that hangs up, also
// before it has executed its program.
func (h *Host) serveExec(conn *wire.Conn, hello wire.Hello) {
	client, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	go func() {
		// Nothing is ever received.
		_ = conn.Receive(new(struct{}))
		hangUp()
		conn.Close() // The command may take longer to end.
	}()
	command, streams, err := h.exec(client, hello)
	sent := conn.SendFiles(streams)
	for _, fd := range streams {
		unix.Close(fd)
	}
	if err != nil {
		_ = conn.Send(failedExit(err))
		return
	}
	if sent != nil {
		hangUp()
	}
	stop := context.AfterFunc(client, command.HangUp)
	defer stop()
	code, err := command.Wait()
	if err != nil {
		_ = conn.Send(failedExit(err))
		return
	}
	_ = conn.Send(wire.Exit{Code: code})
}

func (h *Host) exec(ctx context.Context, hello wire.Hello) (*sandbox.Command, []int, error) {
	_, p, err := h.running(hello, hello.Exec.ID)
	if err != nil {
		return nil, nil, err
	}
	return p.Exec(ctx, hello.Exec.Args, hello.Exec.TTY, hello.Exec.Size)
}

// running returns the attempt that a control plane wants to connect to.
func (h *Host) running(hello wire.Hello, id runtime.ID) (*entry, *sandbox.Process, error) {
	if hello.Dir != h.config.Dir || hello.Protocol != wire.Protocol {
		return nil, nil, errors.New("the container host process is another one")
	}
	e, p := h.entryOf(id)
	if p == nil {
		return nil, nil, fmt.Errorf("container %q does not run", id.Container)
	}
	return e, p, nil
}

// entryOf returns the entry of an attempt, and its process if it runs.
func (h *Host) entryOf(id runtime.ID) (*entry, *sandbox.Process) {
	h.mu.Lock()
	e := h.entries[id]
	h.mu.Unlock()
	if e == nil {
		return nil, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e, e.process
}

func failedExit(err error) wire.Exit {
	var fault *runtime.CommandError
	if errors.As(err, &fault) {
		return wire.Exit{Code: fault.Code, StartError: fault.Reason}
	}
	return wire.Exit{Err: err.Error()}
}
