package process

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/wire"
)

// hostLifetime waits for the end of a process, which need not be a child.
type hostLifetime struct{ pidfd *os.File }

// lifetimeOf returns the lifetime of the process at the other end, or nil if that is in a pid namespace outside of this one.
func lifetimeOf(conn *wire.Conn) *hostLifetime {
	peer, err := conn.Peer()
	if err != nil {
		return nil
	}
	fd, err := unix.PidfdOpen(int(peer.Pid), 0)
	if err != nil {
		return nil
	}
	// Non-blocking, so that the poller of the Go runtime waits for it and no thread has to.
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil
	}
	return &hostLifetime{os.NewFile(uintptr(fd), "pidfd")}
}

// wait waits until the process has ended, or ctx is done.
func (l *hostLifetime) wait(ctx context.Context) {
	if l == nil {
		return
	}
	raw, err := l.pidfd.SyscallConn()
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = l.pidfd.SetReadDeadline(time.Now()) })
	defer stop()
	_ = raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}

func (l *hostLifetime) close() {
	if l != nil {
		l.pidfd.Close()
	}
}
