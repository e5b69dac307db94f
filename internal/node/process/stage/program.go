package stage

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// call is one system call. The assembly code knows the order and size of its fields.
type call struct {
	number uintptr
	args   [6]uintptr
	kind   kind
}

// kind says what follows a call.
type kind uintptr

const (
	// must ends the list if the call fails.
	must kind = iota
	// may goes on in any case.
	may
	// fork ends the list in the process that the call returns a process id to, and goes on in the new one.
	fork
	// either skips the next call if the call succeeds.
	either
)

// callSize is the size of a call in the assembly code.
const callSize = 64

var _ = [1]struct{}{}[unsafe.Sizeof(call{})-callSize]

// Program is what a child does between clone and execve. It can be started once. The zero value is for a child that shares the
// memory of this process meanwhile; NewApart returns one for a child that does not.
type Program struct {
	calls    []call
	purposes []string
	// errnos are the errors of the calls. An error is less than 4096.
	errnos []uint16
	// closes are the indexes of the calls that close descriptors.
	closes []int
	// keep holds what the arguments point to, because the garbage collector does not see them.
	keep [][]byte

	// memory holds what the arguments of a child with memory of its own point to; nil for one without.
	memory *memory
}

// Do adds a system call. What is its purpose for error texts; it completes the sentence "cannot …".
func (p *Program) Do(what string, number uintptr, args ...uintptr) {
	c := call{number: number}
	copy(c.args[:], args)
	p.calls = append(p.calls, c)
	p.purposes = append(p.purposes, what)
}

// Try adds a system call that may fail.
func (p *Program) Try(number uintptr, args ...uintptr) {
	p.Do("", number, args...)
	p.last().kind = may
}

// Else adds a system call that is made only if the last one fails, which may fail then. It may fail as well.
func (p *Program) Else(number uintptr, args ...uintptr) {
	p.last().kind = either
	p.Try(number, args...)
}

func (p *Program) last() *call { return &p.calls[len(p.calls)-1] }

// Run executes the first of these files that is a program. What is its purpose for error texts. The error of all is that of
// the first file that exists.
func (p *Program) Run(what string, paths, command, env []string) {
	args, variables := p.Strings(command), p.Strings(env)
	for _, path := range paths {
		p.Do(what, unix.SYS_EXECVE, p.String(path), args, variables)
		p.last().kind = may
	}
	p.last().kind = must
}

// CloseFrom closes all descriptors from first on, except the one by which this process sees whether the list succeeds.
func (p *Program) CloseFrom(first int) {
	p.closes = append(p.closes, len(p.calls), len(p.calls)+1)
	for range 2 {
		p.Do("close the descriptors of the host process", unix.SYS_CLOSE_RANGE, uintptr(first), math.MaxUint32, 0)
	}
}

// spare keeps fd from being closed by CloseFrom.
func (p *Program) spare(fd int) {
	for i, at := range p.closes {
		args := &p.calls[at].args
		if below := i%2 == 0; below && uintptr(fd) > args[0] {
			args[1] = uintptr(fd - 1)
			continue
		}
		args[0] = max(args[0], uintptr(fd+1))
	}
}

// FD returns an argument that is a descriptor of this process above the standard streams. Every such argument must be made by
// FD: a child with memory of its own has no other descriptors.
func (p *Program) FD(fd int) uintptr {
	if p.memory != nil {
		p.memory.fds = append(p.memory.fds, fd)
	}
	return uintptr(fd)
}

// Bytes returns an argument that points to a copy of b.
func (p *Program) Bytes(b []byte) uintptr { return p.hold(slices.Clone(b)) }

// hold returns an argument that points to b, which the caller does not change any more.
func (p *Program) hold(b []byte) uintptr {
	if len(b) == 0 {
		return 0
	}
	if p.memory != nil {
		return p.memory.place(b)
	}
	// Objects on the heap do not move.
	p.keep = append(p.keep, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// String returns an argument that points to s, which ends at its first zero byte.
func (p *Program) String(s string) uintptr { return p.hold(append([]byte(s), 0)) }

// Strings returns an argument that points to a list of strings as execve takes it.
func (p *Program) Strings(list []string) uintptr {
	pointers := make([]byte, 0, (len(list)+1)*8)
	for _, s := range list {
		pointers = binary.NativeEndian.AppendUint64(pointers, uint64(p.String(s)))
	}
	return p.hold(append(pointers, make([]byte, 8)...))
}

// Groups returns an argument that points to a list of group ids as setgroups takes it.
func (p *Program) Groups(ids []uint32) uintptr {
	var b []byte
	for _, id := range ids {
		b = binary.NativeEndian.AppendUint32(b, id)
	}
	return p.hold(b)
}

// Filter returns an argument that points to a filter as seccomp takes it.
func (p *Program) Filter(instructions []unix.SockFilter) uintptr {
	list := p.Bytes(bytesOf(instructions))
	program := binary.NativeEndian.AppendUint64(nil, uint64(len(instructions)))
	return p.hold(binary.NativeEndian.AppendUint64(program, uint64(list)))
}

// bytesOf returns the memory of a list.
func bytesOf[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), uintptr(len(list))*unsafe.Sizeof(list[0]))
}

// Error is a system call that failed in the child.
type Error struct {
	// What completes the sentence "cannot …".
	What  string
	Errno unix.Errno
}

func (e *Error) Error() string { return fmt.Sprintf("cannot %s: %v", e.What, e.Errno) }

func (e *Error) Unwrap() error { return e.Errno }

// failure returns why the child ended without executing a program, if it did.
func (p *Program) failure() error {
	for i, errno := range p.errnos {
		if kind := p.calls[i].kind; errno != 0 && kind != may && kind != either {
			return &Error{What: p.purposes[i], Errno: p.reason(i)}
		}
	}
	return nil
}

// reason returns the error of the call at index, or that of the first call of the same purpose that found a file.
func (p *Program) reason(index int) unix.Errno {
	for i, e := range p.errnos[:index] {
		errno := unix.Errno(e)
		if p.purposes[i] == p.purposes[index] && errno != 0 && errno != unix.ENOENT && errno != unix.ENOTDIR {
			return errno
		}
	}
	return unix.Errno(p.errnos[index])
}
