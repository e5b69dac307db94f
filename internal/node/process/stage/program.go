package stage

import (
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
	// mayFail is 1 if the list goes on after an error.
	mayFail uintptr
	// errno is the error if the call failed.
	errno uintptr
}

// callSize is the size of a call in the assembly code.
const callSize = 72

var _ = [1]struct{}{}[unsafe.Sizeof(call{})-callSize]

// Program is what a child does between clone and execve. It can be started once.
type Program struct {
	calls    []call
	purposes []string
	// closes are the indexes of the calls that close descriptors.
	closes []int
	// keep holds what the arguments point to, because the garbage collector does not see them.
	keep []any
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
	p.calls[len(p.calls)-1].mayFail = 1
}

// Run executes the first of these files that is a program. What is its purpose for error texts. The error of all is that of
// the first file that exists.
func (p *Program) Run(what string, paths, command, env []string) {
	args, variables := p.Strings(command), p.Strings(env)
	for _, path := range paths {
		p.Do(what, unix.SYS_EXECVE, p.String(path), args, variables)
		p.calls[len(p.calls)-1].mayFail = 1
	}
	p.calls[len(p.calls)-1].mayFail = 0
}

// CloseFrom closes all descriptors from first on, except one of an empty pipe.
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

// Bytes returns an argument that points to a copy of b.
func (p *Program) Bytes(b []byte) uintptr {
	if len(b) == 0 {
		return 0
	}
	b = slices.Clone(b)
	return hold(p, &b[0])
}

// String returns an argument that points to s, which ends at its first zero byte.
func (p *Program) String(s string) uintptr { return p.Bytes(append([]byte(s), 0)) }

// Strings returns an argument that points to a list of strings as execve takes it.
func (p *Program) Strings(list []string) uintptr {
	pointers := make([]uintptr, len(list)+1)
	for i, s := range list {
		pointers[i] = p.String(s)
	}
	return hold(p, &pointers[0])
}

// Groups returns an argument that points to a list of group ids as setgroups takes it.
func (p *Program) Groups(ids []uint32) uintptr {
	if len(ids) == 0 {
		return 0
	}
	ids = slices.Clone(ids)
	return hold(p, &ids[0])
}

// Filter returns an argument that points to a filter as seccomp takes it.
func (p *Program) Filter(instructions []unix.SockFilter) uintptr {
	return hold(p, &unix.SockFprog{Len: uint16(len(instructions)), Filter: &instructions[0]})
}

// hold returns the address of v and keeps v alive as long as the Program. Objects on the heap do not move.
func hold[T any](p *Program, v *T) uintptr {
	p.keep = append(p.keep, v)
	return uintptr(unsafe.Pointer(v))
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
	for i := range p.calls {
		if c := &p.calls[i]; c.errno != 0 && c.mayFail == 0 {
			return &Error{What: p.purposes[i], Errno: p.reason(i)}
		}
	}
	return nil
}

// reason returns the error of the call at index, or that of the first call of the same purpose that found a file.
func (p *Program) reason(index int) unix.Errno {
	for i, c := range p.calls[:index] {
		errno := unix.Errno(c.errno)
		if p.purposes[i] == p.purposes[index] && errno != 0 && errno != unix.ENOENT && errno != unix.ENOTDIR {
			return errno
		}
	}
	return unix.Errno(p.calls[index].errno)
}
