package seccomp

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// Host is the machine that a program is for.
type Host struct {
	// Arch is a GOARCH: amd64 or arm64.
	Arch string
	// Kernel decides whether rules with a MinKernel apply.
	Kernel Kernel
}

// ThisHost describes the machine that this process runs on.
func ThisHost() (Host, error) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return Host{}, fmt.Errorf("ask for the kernel version: %w", err)
	}
	release := unix.ByteSliceToString(name.Release[:])
	var kernel Kernel
	if _, err := fmt.Sscanf(release, "%d.%d", &kernel.Version, &kernel.Major); err != nil {
		return Host{}, fmt.Errorf("kernel version %q: %w", release, err)
	}
	return Host{Arch: runtime.GOARCH, Kernel: kernel}, nil
}

// dockerName is the machine's name in the conditions of rules. It is GOARCH for all supported machines.
func (h Host) dockerName() string { return h.Arch }
