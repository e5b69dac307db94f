//go:build linux && (amd64 || arm64)

package stage

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math"
	"os"
	goruntime "runtime"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Where a static program that makes the calls of a list has its parts, besides memoryAddress. The assembly code knows listAddress.
const (
	codeAddress = 0x400000
	listAddress = 0x10000000
)

// startApart waits until the first child has started the other one, which makes the calls of p, and has ended. That takes a
// fraction of a millisecond, for which the thread blocks: to go over to another goroutine and back costs as much.
func startApart(p *Program, own Namespaces, cgroup int) (*Child, error) {
	done, doneTo, err := newPipe()
	if err != nil {
		return nil, err
	}
	pid, pidTo, err := newPipe()
	if err != nil {
		done.Close()
		unix.Close(doneTo)
		return nil, err
	}
	defer pid.Close()
	c := &Child{done: done}
	err = c.startBoth(p.apart(own, cgroup, doneTo, pidTo), pid)
	unix.Close(doneTo)
	unix.Close(pidTo)
	if err != nil {
		done.Close()
		return nil, err
	}
	return c, nil
}

// apart is a Program for both children.
type apart struct {
	*Program
	// fds are all descriptors that they use, of which done and pidTo are those that they report to.
	fds         []int
	done, pidTo int
}

// apart returns the list of both children: what precedes the calls of p is the first child's.
func (p *Program) apart(own Namespaces, cgroup, done, pidTo int) apart {
	used := append(slices.Clone(p.memory.fds), done)
	// The other child does not use these.
	onlyFirst := []int{pidTo}
	for _, fd := range []int{p.memory.pids, cgroup} {
		if fd >= 0 && !slices.Contains(used, fd) {
			onlyFirst = append(onlyFirst, fd)
		}
	}
	a := apart{Program: &Program{memory: p.memory}, fds: slices.Concat(used, onlyFirst), done: done, pidTo: pidTo}
	slices.Sort(a.fds)
	a.closeOthers()
	a.Do("mark a descriptor", unix.SYS_FCNTL, uintptr(done), unix.F_SETFD, unix.FD_CLOEXEC)
	if p.memory.pids >= 0 {
		a.Do("enter the pid namespace of the container", unix.SYS_SETNS, uintptr(p.memory.pids), unix.CLONE_NEWPID)
	}
	// The parent of the child is the parent of the first child.
	args := newCloneArgs(uint64(own)|unix.CLONE_PARENT, cgroup)
	a.Do("enter the container", sysClone3, a.Bytes(bytesOf([]cloneArgs{*args})), unsafe.Sizeof(*args))
	a.last().kind = fork
	for _, fd := range onlyFirst {
		a.Do("close a descriptor of the host process", unix.SYS_CLOSE, uintptr(fd))
	}
	p.spare(done)
	a.calls, a.purposes = append(a.calls, p.calls...), append(a.purposes, p.purposes...)
	a.errnos = make([]uint16, len(a.calls))
	return a
}

const sysClone3 = 435

// closeOthers closes all descriptors but those that are used.
func (a *apart) closeOthers() {
	first := 0
	for _, fd := range append(slices.Clone(a.fds), math.MaxInt32) {
		if fd > first {
			a.Do("close the descriptors of the host process", unix.SYS_CLOSE_RANGE, uintptr(first), uintptr(fd-1), 0)
		}
		first = fd + 1
	}
}

// startBoth starts the first child, and waits until it has ended. The other one is a child of this process as well.
func (c *Child) startBoth(a apart, pid *os.File) error {
	c.program = a.Program
	first, err := a.startFirst()
	if err != nil {
		return err
	}
	reap(first.PID)
	goruntime.KeepAlive(first)
	var id [8]byte
	if readNow(pid, id[:]) < len(id) {
		readNow(c.done, bytesOf(a.errnos))
		return cmp.Or(first.program.failure(), a.failure(), errNotStarted)
	}
	c.PID = int(binary.NativeEndian.Uint64(id[:]))
	if c.PIDFD, err = unix.PidfdOpen(c.PID, 0); err != nil {
		_ = unix.Kill(c.PID, unix.SIGKILL)
		go reap(c.PID) // It may hang.
	}
	return err
}

var errNotStarted = errors.New("a process that should have started another one was killed")

// readNow reads what is in a pipe, without waiting.
func readNow(from *os.File, b []byte) (n int) {
	conn, err := from.SyscallConn()
	if err == nil {
		_ = conn.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), b) })
	}
	return n
}

// startFirst starts the first child.
func (a *apart) startFirst() (*Child, error) {
	program, err := NewExecutable("stint", a.segments()...)
	if err != nil {
		return nil, err
	}
	defer program.Close()
	list := &Program{}
	for _, fd := range a.fds {
		list.Do("keep a descriptor", unix.SYS_FCNTL, uintptr(fd), unix.F_SETFD, 0)
	}
	list.Do("execute a file in memory", unix.SYS_EXECVEAT, program.Fd(), list.String(""), list.Strings([]string{"stint"}), list.Strings(nil),
		unix.AT_EMPTY_PATH)
	first := &Child{program: list}
	if err := first.fork(0, -1); err != nil {
		return nil, err
	}
	unix.Close(first.PIDFD)
	return first, nil
}

// segments are the parts of a static program that makes the calls.
func (a *apart) segments() []Segment {
	l := list{done: uintptr(a.done), pidTo: uintptr(a.pidTo)}
	l.next = listAddress + unsafe.Sizeof(l)
	l.end = l.next + uintptr(len(a.calls))*callSize
	// One more error than calls, as the errors up to a call that does not exist are written if all calls succeed.
	l.errnos = l.end
	data := slices.Concat(bytesOf([]list{l}), bytesOf(a.calls), bytesOf(a.errnos), make([]byte, 2))
	return []Segment{
		{Address: codeAddress, Flags: elf.PF_R | elf.PF_X, Data: code()},
		{Address: listAddress, Flags: elf.PF_R | elf.PF_W, Data: data},
		{Address: memoryAddress, Flags: elf.PF_R, Data: a.memory.data},
	}
}

// runAddress returns the address of the code that makes the calls of a list.
func runAddress() unsafe.Pointer

// endMark follows that code.
const endMark = "stintend"

// code returns a copy of the code that makes the calls of a list.
var code = sync.OnceValue(func() []byte {
	const most = 1 << 10
	text := unsafe.Slice((*byte)(runAddress()), most)
	return slices.Clone(text[:bytes.Index(text, []byte(endMark))])
})
