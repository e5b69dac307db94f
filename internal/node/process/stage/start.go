//go:build linux && (amd64 || arm64)

package stage

import (
	"errors"
	"os"
	goruntime "runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Supported is whether the package supports this processor.
const Supported = true

// Namespaces are those that a child gets of its own, as flags of clone.
type Namespaces uint64

// cloneArgs is struct clone_args of clone3(2).
type cloneArgs struct {
	flags      uint64
	pidfd      uint64
	_          [2]uint64
	exitSignal uint64
	_          [5]uint64
	cgroup     uint64
}

// Child is a process that makes its calls, or has executed its program.
type Child struct {
	PID int
	// PIDFD is its descriptor, which the caller closes.
	PIDFD int

	program *Program
	done    *os.File
	clone   *cloneArgs
	pidfd   *int32
}

// start clones, and the child makes the calls. It is written in assembly language, because the child must not use the stack
// that it shares with its parent.
//
//go:noescape
func start(args *cloneArgs, size uintptr, calls *call, count uintptr) (pid, errno uintptr)

// Start clones the calling thread, to which the goroutine must be locked: the child has the thread's namespaces except those
// in own, and if the Program sets a parent-death signal, gets it when the thread ends. If cgroup is not -1, the child starts
// in that cgroup. Start does not wait for the calls.
func Start(p *Program, own Namespaces, cgroup int) (*Child, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, err
	}
	defer unix.Close(ends[1])
	p.spare(ends[1])
	c := &Child{program: p, pidfd: new(int32), done: os.NewFile(uintptr(ends[0]), "stage")}
	c.clone = &cloneArgs{
		// No signal handler of this program may run in the child, which shares its memory.
		flags:      uint64(own) | unix.CLONE_VM | unix.CLONE_PIDFD | unix.CLONE_CLEAR_SIGHAND,
		pidfd:      uint64(uintptr(unsafe.Pointer(c.pidfd))),
		exitSignal: uint64(unix.SIGCHLD),
	}
	if cgroup >= 0 {
		c.clone.flags |= unix.CLONE_INTO_CGROUP
		c.clone.cgroup = uint64(cgroup)
	}
	pid, err := c.fork()
	if err != nil {
		c.done.Close()
		return nil, err
	}
	c.PID, c.PIDFD = pid, int(*c.pidfd)
	return c, nil
}

// fork blocks all signals in the child, because a signal before execve would need a stack.
func (c *Child) fork() (int, error) {
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^uint64(0)
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before); err != nil {
		return 0, err
	}
	calls := c.program.calls
	pid, errno := start(c.clone, unsafe.Sizeof(*c.clone), &calls[0], uintptr(len(calls)))
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil); err != nil && errno == 0 {
		return int(pid), err
	}
	if errno != 0 {
		return 0, unix.Errno(errno)
	}
	return int(pid), nil
}

// Wait waits until the child has executed its program. If it could not, Wait reaps it and returns an *Error. It waits in the
// poller, so it blocks no thread even if a call of the child hangs.
func (c *Child) Wait() error {
	defer c.done.Close()
	// Nothing is ever written to the pipe.
	_, _ = c.done.Read(make([]byte, 1))
	failed := c.program.failure()
	goruntime.KeepAlive(c.program)
	if failed == nil {
		return nil
	}
	for {
		if _, err := unix.Wait4(c.PID, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return failed
		}
	}
}
