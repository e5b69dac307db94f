//go:build linux && (amd64 || arm64)

package stage

import (
	"context"
	"errors"
	"io"
	"os"
	goruntime "runtime"
	"time"
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

func newCloneArgs(flags uint64, cgroup int) *cloneArgs {
	a := &cloneArgs{flags: flags}
	if cgroup >= 0 {
		a.flags |= unix.CLONE_INTO_CGROUP
		a.cgroup = uint64(cgroup)
	}
	return a
}

// list is a list of calls in the memory of the child. The assembly code knows the order and size of its fields.
type list struct {
	// next and end are the addresses of the first call and of the end of the calls, errnos that of the error of the first.
	next, end, errnos uintptr
	// done is the descriptor that the errors are written to if the list ends; pidTo the one that the process id is written to if a
	// call of kind fork returns it. They are 0 where the memory is shared.
	done, pidTo uintptr
	// The process id.
	_ uintptr
}

// Child is a process that makes its calls, or has executed its program.
type Child struct {
	PID int
	// PIDFD is its descriptor, which the caller closes.
	PIDFD int

	program *Program
	// done is a pipe that execve and the end of the child close. A child with memory of its own writes its errors to it.
	done *os.File
	// shared is what the child uses of this process's memory.
	shared *sharedList
}

// sharedList is what a child uses that shares the memory of this process.
type sharedList struct {
	list
	// clone are the arguments of clone3, which writes pidfd.
	clone *cloneArgs
	pidfd int32
}

// start clones, and the child makes the calls. It is written in assembly language, because the child must not use the stack
// that it shares with its parent.
//
//go:noescape
func start(args *cloneArgs, size uintptr, list *list) (pid, errno uintptr)

// Start clones the calling thread, to which the goroutine must be locked: the child has the thread's namespaces except those
// in own, and if the Program sets a parent-death signal, gets it when the thread ends. If cgroup is not -1, the child starts
// in that cgroup. Start does not wait for the calls.
func Start(p *Program, own Namespaces, cgroup int) (*Child, error) {
	if p.memory != nil {
		return startApart(p, own, cgroup)
	}
	done, end, err := newPipe()
	if err != nil {
		return nil, err
	}
	defer unix.Close(end)
	p.spare(end)
	c := &Child{program: p, done: done}
	if err := c.fork(uint64(own), cgroup); err != nil {
		c.done.Close()
		return nil, err
	}
	return c, nil
}

// newPipe returns the end of a pipe that is read, which does not block, and the other one.
func newPipe() (from *os.File, to int, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, err
	}
	if err := unix.SetNonblock(ends[0], true); err != nil {
		return nil, -1, errors.Join(err, unix.Close(ends[0]), unix.Close(ends[1]))
	}
	return os.NewFile(uintptr(ends[0]), "stage"), ends[1], nil
}

// fork blocks all signals in the child, because a signal before execve would need a stack.
func (c *Child) fork(flags uint64, cgroup int) error {
	// No signal handler of this program may run in the child, which shares its memory.
	s := &sharedList{clone: newCloneArgs(flags|unix.CLONE_VM|unix.CLONE_PIDFD|unix.CLONE_CLEAR_SIGHAND, cgroup)}
	s.clone.exitSignal = uint64(unix.SIGCHLD)
	s.clone.pidfd = uint64(uintptr(unsafe.Pointer(&s.pidfd)))
	calls := c.program.calls
	c.program.errnos = make([]uint16, len(calls))
	s.next = uintptr(unsafe.Pointer(&calls[0]))
	s.end = s.next + uintptr(len(calls))*callSize
	s.errnos = uintptr(unsafe.Pointer(&c.program.errnos[0]))
	c.shared = s

	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^uint64(0)
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before); err != nil {
		return err
	}
	pid, errno := start(s.clone, unsafe.Sizeof(*s.clone), &s.list)
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	if errno != 0 {
		return unix.Errno(errno)
	}
	c.PID, c.PIDFD = int(pid), int(s.pidfd)
	return nil
}

// killTimeout is how long a child may take to end when it is killed. One that waits for a disk may take for ever.
const killTimeout = time.Second

// Wait waits until the child has executed its program or has ended, and returns an *Error if it could not execute it. When ctx is
// done, Wait kills the child and returns soon, even if that does not end. The caller reaps the child in any case. It waits in the
// poller, so it blocks no thread even if a call of the child hangs.
func (c *Child) Wait(ctx context.Context) error {
	defer c.done.Close()
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(killed)
		_ = unix.PidfdSendSignal(c.PIDFD, unix.SIGKILL, nil, 0)
		_ = c.done.SetReadDeadline(time.Now().Add(killTimeout))
	})
	// Nothing is written to it where the memory is shared.
	errnos, _ := io.ReadAll(c.done)
	if !stop() {
		<-killed // The caller may close the descriptor now.
	}
	copy(bytesOf(c.program.errnos), errnos)
	failed := c.program.failure()
	goruntime.KeepAlive(c.program)
	goruntime.KeepAlive(c.shared)
	return failed
}

func reap(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
