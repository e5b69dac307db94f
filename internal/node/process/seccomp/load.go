package seccomp

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Load applies a filter to the calling thread and all its later children, for as long as they live. The goroutine must be
// locked to the thread (runtime.LockOSThread), which needs CAP_SYS_ADMIN or no_new_privs. flags are those of the profile.
func Load(filter []unix.SockFilter, flags uint) error {
	if len(filter) == 0 || len(filter) > maxInstructions {
		return errors.New("load a seccomp filter: its length is out of range")
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, uintptr(flags),
		uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return fmt.Errorf("load a seccomp filter: %w", errno)
	}
	return nil
}
