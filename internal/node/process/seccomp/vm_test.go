package seccomp_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"golang.org/x/sys/unix"
)

// call is struct seccomp_data, the input of a filter.
type call struct {
	number uint32
	audit  uint32
	args   [6]uint64
}

func (c call) bytes() []byte {
	data := binary.LittleEndian.AppendUint32(nil, c.number)
	data = binary.LittleEndian.AppendUint32(data, c.audit)
	data = binary.LittleEndian.AppendUint64(data, 0) // the instruction pointer
	for _, arg := range c.args {
		data = binary.LittleEndian.AppendUint64(data, arg)
	}
	return data
}

// run interprets a program as the kernel does, and counts the instructions that it executes.
func run(filter []unix.SockFilter, c call) (verdict seccomp.Action, steps int, err error) {
	data := c.bytes()
	var register uint32
	for at := 0; at < len(filter); steps++ {
		one := filter[at]
		at++
		holds := false
		switch one.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			register = binary.LittleEndian.Uint32(data[one.K:])
			continue
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			register &= one.K
			continue
		case unix.BPF_RET | unix.BPF_K:
			return seccomp.Action(one.K), steps + 1, nil
		case unix.BPF_JMP | unix.BPF_JA:
			at += int(one.K)
			continue
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			holds = register == one.K
		case unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K:
			holds = register > one.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			holds = register >= one.K
		default:
			return 0, steps, fmt.Errorf("instruction %d has the unexpected code %#x", at-1, one.Code)
		}
		if holds {
			at += int(one.Jt)
		} else {
			at += int(one.Jf)
		}
	}
	return 0, steps, fmt.Errorf("the program ran off its end")
}

// audits are the kernel's numbers for the calling conventions.
var audits = map[seccomp.Architecture]uint32{
	seccomp.X86_64:  unix.AUDIT_ARCH_X86_64,
	seccomp.X32:     unix.AUDIT_ARCH_X86_64,
	seccomp.X86:     unix.AUDIT_ARCH_I386,
	seccomp.AArch64: unix.AUDIT_ARCH_AARCH64,
	seccomp.ARM:     unix.AUDIT_ARCH_ARM,
}

// makeCall is a call by name.
func makeCall(on seccomp.Architecture, name string, args ...uint64) call {
	numbers, offset := seccomp.Numbers(on)
	number, exists := numbers[name]
	if !exists {
		panic(fmt.Sprintf("%s has no %s", on, name))
	}
	c := call{number: number + offset, audit: audits[on]}
	copy(c.args[:], args)
	return c
}

// judge returns the verdict of a program.
func judge(t testing.TB, filter []unix.SockFilter, c call) seccomp.Action {
	t.Helper()
	verdict, _, err := run(filter, c)
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

// compile compiles a profile.
func compile(t testing.TB, p seccomp.Profile, arch string, caps ...string) []unix.SockFilter {
	t.Helper()
	filter, err := p.Compile(caps, seccomp.Host{Arch: arch, Kernel: seccomp.Kernel{Version: 6, Major: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

// parse parses a profile.
func parse(t testing.TB, text string) seccomp.Profile {
	t.Helper()
	p, err := seccomp.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
