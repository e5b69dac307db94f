package crilog

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// drain reads what is in the pipe at this moment. It asks for the number of bytes first, because a process that still holds
// the other end may write for ever.
func (s *Stream) drain(conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		var left int
		left, failed = unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		for left > 0 && failed == nil {
			var n int
			n, failed = s.readOnce(int(fd))
			left -= n
		}
	})
	if failed != nil {
		return failed
	}
	return err
}
