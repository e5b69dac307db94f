package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// originalFileLimit is how many files this process could open when it was started. Go raises that limit at once and keeps the
// original one to itself, for the processes that it starts. So one of these is asked.
func originalFileLimit() (*unix.Rlimit, error) {
	path := "/bin/true"
	if pause, err := newPause(); err == nil {
		defer pause.Close()
		path = fmt.Sprintf("/proc/self/fd/%d", pause.Fd())
	}
	pid, err := syscall.ForkExec(path, []string{"pause"}, &syscall.ProcAttr{})
	if err != nil {
		return nil, err
	}
	limit := &unix.Rlimit{}
	err = unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, limit)
	_ = unix.Kill(pid, unix.SIGKILL)
	return limit, errors.Join(err, reap(pid))
}

// reap waits for the end of a child.
func reap(pid int) error {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return err
		}
	}
}

// limitFiles gives the program the limit that this process was started with: some programs close every descriptor below
// it, others cannot use one above 1,023.
func (c *child) limitFiles(limit *unix.Rlimit) {
	pair := binary.NativeEndian.AppendUint64(nil, limit.Cur)
	pair = binary.NativeEndian.AppendUint64(pair, limit.Max)
	c.Do("limit the number of files it can open", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, c.Bytes(pair), 0)
}
