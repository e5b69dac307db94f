package command

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// watchReader calls gone when the reader of a pipe has closed it, until stop. Waiting for a write to fail would not do: a
// command that has nothing more to say would go on without a reader.
func watchReader(out io.Writer, gone func()) (stop func()) {
	w, ok := out.(*Output)
	if !ok {
		return func() {}
	}
	pipe, ok := w.To.(*os.File)
	if !ok {
		return func() {}
	}
	stopped, stopping, err := os.Pipe()
	if err != nil {
		return func() {} // it goes on without a reader then
	}
	go func() {
		defer stopped.Close()
		if waitForHangup(int(pipe.Fd()), int(stopped.Fd())) {
			gone()
		}
	}()
	return func() { stopping.Close() }
}

// waitForHangup reports whether the first of the two is closed at its other end before the second.
func waitForHangup(pipe, other int) bool {
	for {
		fds := []unix.PollFd{{Fd: int32(pipe)}, {Fd: int32(other)}} // errors and hangups are always asked for
		_, err := unix.Poll(fds, -1)
		if err == unix.EINTR {
			continue
		}
		return err == nil && fds[1].Revents == 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	}
}
