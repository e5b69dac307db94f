package command

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/visible"
)

// watchReader calls gone when the reader of a pipe has closed it, until stop. To wait for a failing write is not enough: a
// command without further output would continue without a reader.
func watchReader(out io.Writer, gone func()) (stop func()) {
	w, ok := visible.Unchanged(out).(*Output)
	if !ok {
		return func() {}
	}
	pipe, ok := w.To.(*os.File)
	if !ok {
		return func() {}
	}
	stopped, stopping, err := os.Pipe()
	if err != nil {
		return func() {} // then the command continues without a reader
	}
	go func() {
		defer stopped.Close()
		if waitForHangup(int(pipe.Fd()), int(stopped.Fd())) {
			gone()
		}
	}()
	return func() { stopping.Close() }
}

// waitForHangup waits until the other end of one of the two is closed, and reports whether only that of pipe is.
func waitForHangup(pipe, other int) bool {
	for {
		fds := []unix.PollFd{{Fd: int32(pipe)}, {Fd: int32(other)}} // poll always reports errors and hangups
		_, err := unix.Poll(fds, -1)
		if err == unix.EINTR {
			continue
		}
		return err == nil && fds[1].Revents == 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	}
}
