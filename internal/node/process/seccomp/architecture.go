package seccomp

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// Architecture names a calling convention as profiles do.
type Architecture string

// The supported calling conventions. A 64-bit machine also accepts the 32-bit calls of its predecessor.
const (
	X86_64  Architecture = "SCMP_ARCH_X86_64"
	X86     Architecture = "SCMP_ARCH_X86"
	X32     Architecture = "SCMP_ARCH_X32" // x86_64 with 32-bit pointers; rare, and absent from most kernels
	AArch64 Architecture = "SCMP_ARCH_AARCH64"
	ARM     Architecture = "SCMP_ARCH_ARM"
)

// otherArchitectures are those of machines that Stint does not run on. Profiles name them all the same.
var otherArchitectures = []Architecture{
	"SCMP_ARCH_MIPS", "SCMP_ARCH_MIPS64", "SCMP_ARCH_MIPS64N32", "SCMP_ARCH_MIPSEL", "SCMP_ARCH_MIPSEL64",
	"SCMP_ARCH_MIPSEL64N32", "SCMP_ARCH_PPC", "SCMP_ARCH_PPC64", "SCMP_ARCH_PPC64LE", "SCMP_ARCH_S390",
	"SCMP_ARCH_S390X", "SCMP_ARCH_PARISC", "SCMP_ARCH_PARISC64", "SCMP_ARCH_RISCV64", "SCMP_ARCH_LOONGARCH64",
	"SCMP_ARCH_M68K", "SCMP_ARCH_SH", "SCMP_ARCH_SHEB",
}

// known reports whether the name is one of the specification.
func (a Architecture) known() bool {
	return slices.Contains(otherArchitectures, a) ||
		slices.ContainsFunc(slices.Concat(hosts["amd64"], hosts["arm64"]), func(c convention) bool { return c.name == a })
}

// x32Bit is set in the numbers of x32 calls, which the kernel otherwise reports as calls of x86_64.
const x32Bit = 0x40000000

// convention is one way to make system calls.
type convention struct {
	name Architecture
	// audit is the kernel's number for it. x86_64 and x32 share one.
	audit uint32
	// offset is added to all numbers.
	offset uint32
	// narrow is whether arguments have 32 bits.
	narrow bool
	// numbers are the calls by name.
	numbers func() map[string]uint32
	// multiplexed are calls that can also be made through another call, with their code as its first argument.
	multiplexed map[string]multiplexed
}

// hosts lists the conventions of each machine, its own first.
var hosts = map[string][]convention{
	"amd64": {
		{name: X86_64, audit: unix.AUDIT_ARCH_X86_64, numbers: x86_64Numbers},
		{name: X32, audit: unix.AUDIT_ARCH_X86_64, numbers: x32Numbers, narrow: true, offset: x32Bit},
		{name: X86, audit: unix.AUDIT_ARCH_I386, numbers: x86Numbers, narrow: true, multiplexed: x86Multiplexed},
	},
	"arm64": {
		{name: AArch64, audit: unix.AUDIT_ARCH_AARCH64, numbers: aarch64Numbers},
		{name: ARM, audit: unix.AUDIT_ARCH_ARM, numbers: armNumbers, narrow: true},
	},
}

// conventions are those that the profile allows on the machine, the machine's own first.
func (p Profile) conventions(host Host) ([]convention, error) {
	all, known := hosts[host.Arch]
	if !known {
		return nil, fmt.Errorf("no numbers of system calls for %s machines", host.Arch)
	}
	var allowed []convention
	for i, one := range all {
		if i == 0 || slices.Contains(p.Architectures, one.name) ||
			slices.Contains(p.ArchitectureMap[all[0].name], one.name) {
			allowed = append(allowed, one)
		}
	}
	return allowed, nil
}
