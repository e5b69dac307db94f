package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/host"
	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// Exec implements runtime.Runtime.
func (r *Runtime) Exec(ctx context.Context, id runtime.ID, command runtime.Command, streams runtime.Streams) (int32, error) {
	exec := wire.Exec{ID: id, Args: command.Args, TTY: command.TTY}
	if command.TTY {
		exec.Size = firstSize(ctx, streams.Sizes)
	}
	return r.connect(ctx, wire.Hello{Exec: &exec}, streams)
}

// sizeTimeout is how long a command is held back until its terminal has a size. Not every client sends one.
const sizeTimeout = 250 * time.Millisecond

// firstSize returns the size that the terminal has when the command starts, or zero.
func firstSize(ctx context.Context, sizes <-chan runtime.Size) runtime.Size {
	if sizes == nil {
		return runtime.Size{}
	}
	ctx, cancel := context.WithTimeout(ctx, sizeTimeout)
	defer cancel()
	select {
	case size := <-sizes:
		return size
	case <-ctx.Done():
		return runtime.Size{}
	}
}

// Attach implements runtime.Runtime.
func (r *Runtime) Attach(ctx context.Context, id runtime.ID, streams runtime.Streams) error {
	_, err := r.connect(ctx, wire.Hello{Attach: &wire.Attach{ID: id, Stdin: streams.Stdin != nil}}, streams)
	return err
}

// connect opens a connection of its own to the host, and copies the streams until the process has ended.
func (r *Runtime) connect(ctx context.Context, hello wire.Hello, streams runtime.Streams) (int32, error) {
	link, err := r.link.wait(ctx)
	if err != nil {
		return 0, err
	}
	if !link.info.CanExec {
		return 0, errors.New("containers cannot be entered here: this takes Linux 5.9 on amd64 or arm64, and a host process " +
			"of this version of stint, which is started when all containers have ended")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := dialCommand(ctx, link.runDir)
	if err != nil {
		return 0, err
	}
	defer c.conn.Close()
	hello.Protocol, hello.Dir = wire.Protocol, r.config.Dir
	if err := c.start(hello); err != nil {
		return 0, cmp.Or(ctx.Err(), err)
	}
	defer c.close()
	return c.run(ctx, cancel, streams)
}

// runningCommand is a process in a container, and its connection to the host.
type runningCommand struct {
	conn *wire.Conn
	// files are the streams: a terminal; or one and what it shows; or of input, output and error output; or none.
	files []*os.File
}

// dialCommand connects. The connection is closed when ctx is done.
func dialCommand(ctx context.Context, runDir string) (*runningCommand, error) {
	socket, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(runDir, host.SocketName), Net: "unix"})
	if err != nil {
		return nil, err
	}
	c := &runningCommand{conn: wire.NewConn(socket)}
	if err := c.conn.CheckPeer(); err != nil {
		socket.Close()
		return nil, err
	}
	context.AfterFunc(ctx, func() { socket.Close() })
	return c, nil
}

func (c *runningCommand) start(hello wire.Hello) (err error) {
	if err = c.conn.Send(hello); err == nil {
		c.files, err = c.conn.ReceiveFiles()
	}
	if err != nil {
		return fmt.Errorf("the container host process: %w", err)
	}
	return nil
}

func (c *runningCommand) close() {
	for _, f := range c.files {
		f.Close()
	}
}

// run copies the streams until the command has ended. Cancel ends ctx.
func (c *runningCommand) run(ctx context.Context, cancel func(), streams runtime.Streams) (int32, error) {
	var outputs sync.WaitGroup
	var failed error
	var once sync.Once
	copyTo := func(to io.Writer, from *os.File) {
		outputs.Go(func() {
			if err := copyOutput(to, from); err != nil {
				once.Do(func() { failed = err })
				cancel()
			}
		})
	}
	if len(c.files) > 0 {
		go c.copyInput(streams.Stdin)
	}
	switch len(c.files) {
	case 1, 2:
		go c.resize(ctx, streams.Sizes)
		copyTo(streams.Stdout, c.files[len(c.files)-1])
	case 3:
		copyTo(streams.Stdout, c.files[1])
		copyTo(streams.Stderr, c.files[2])
	}
	var exit wire.Exit
	err := c.conn.Receive(&exit)
	for _, f := range c.files {
		_ = f.SetReadDeadline(time.Now().Add(drainGrace))
	}
	outputs.Wait()
	switch {
	case failed != nil:
		return 0, failed
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		return 0, errDisconnected
	case exit.Err != "":
		return 0, errors.New(exit.Err)
	case exit.StartError != "":
		return 0, &runtime.CommandError{Code: exit.Code, Reason: exit.StartError}
	}
	return exit.Code, nil
}

// drainGrace is how long output is read after the command has ended: a process that it has started may hold the pipe open.
const drainGrace = 200 * time.Millisecond

// copyInput closes the command's standard input after the last byte. A terminal stays open: it is its output too.
func (c *runningCommand) copyInput(from io.Reader) {
	if from != nil {
		// The command need not read all of it.
		_, _ = io.Copy(c.files[0], from)
	}
	if len(c.files) > 2 {
		c.files[0].Close()
	}
}

func (c *runningCommand) resize(ctx context.Context, sizes <-chan runtime.Size) {
	conn, err := c.files[0].SyscallConn()
	for err == nil {
		select {
		case size, ok := <-sizes:
			if !ok {
				return
			}
			err = conn.Control(func(fd uintptr) {
				_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: size.Columns, Row: size.Rows})
			})
		case <-ctx.Done():
			return
		}
	}
}

// copyOutput copies until all writers have closed the pipe or terminal. When the deadline passes, it copies what is there at
// that moment, and returns.
func copyOutput(to io.Writer, from *os.File) error {
	if to == nil {
		to = io.Discard
	}
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return copyRest(to, from, buffer)
		case err != nil:
			// EOF, or EIO from a terminal that no process has open.
			return nil
		}
	}
}

// copyRest asks for the number of bytes first, because a process that holds the other end may write for ever.
func copyRest(to io.Writer, from *os.File, buffer []byte) error {
	conn, err := from.SyscallConn()
	if err != nil {
		return err
	}
	left := 0
	if err := conn.Control(func(fd uintptr) { left, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }); err != nil {
		return err
	}
	for left > 0 && err == nil {
		n := 0
		if controlled := conn.Control(func(fd uintptr) { n, err = unix.Read(int(fd), buffer) }); controlled != nil {
			return controlled
		}
		if n <= 0 {
			return nil
		}
		left -= n
		_, err = to.Write(buffer[:n])
	}
	return err
}
