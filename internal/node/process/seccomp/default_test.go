package seccomp_test

import (
	"testing"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"golang.org/x/sys/unix"
)

const (
	allow = seccomp.Allow
	admin = "CAP_SYS_ADMIN"
)

var (
	eperm  = seccomp.Errno(unix.EPERM)
	enosys = seccomp.Errno(unix.ENOSYS)
)

// The built-in profile, call by call.
func TestRuntimeDefault(t *testing.T) {
	for _, c := range []struct {
		name        string
		args        []uint64
		plain       seccomp.Action
		withAdmin   seccomp.Action
		notOnArm    bool // the machine has no such call
		withCapOnly string
	}{
		{name: "read", plain: allow, withAdmin: allow},
		{name: "getpid", plain: allow, withAdmin: allow},
		{name: "execve", plain: allow, withAdmin: allow},
		{name: "openat2", plain: allow, withAdmin: allow},
		{name: "ptrace", plain: allow, withAdmin: allow},
		{name: "removexattrat", plain: allow, withAdmin: allow},
		{name: "arch_prctl", plain: allow, withAdmin: allow, notOnArm: true},
		{name: "fork", plain: allow, withAdmin: allow, notOnArm: true},

		{name: "mount", plain: eperm, withAdmin: allow},
		{name: "umount2", plain: eperm, withAdmin: allow},
		{name: "unshare", plain: eperm, withAdmin: allow},
		{name: "setns", plain: eperm, withAdmin: allow},
		{name: "bpf", plain: eperm, withAdmin: allow, withCapOnly: "CAP_BPF"},
		{name: "perf_event_open", plain: eperm, withAdmin: allow, withCapOnly: "CAP_PERFMON"},
		{name: "syslog", plain: eperm, withAdmin: allow, withCapOnly: "CAP_SYSLOG"},
		{name: "chroot", plain: eperm, withAdmin: eperm, withCapOnly: "CAP_SYS_CHROOT"},
		{name: "reboot", plain: eperm, withAdmin: eperm, withCapOnly: "CAP_SYS_BOOT"},
		{name: "kcmp", plain: eperm, withAdmin: eperm, withCapOnly: "CAP_SYS_PTRACE"},
		{name: "init_module", plain: eperm, withAdmin: eperm, withCapOnly: "CAP_SYS_MODULE"},
		{name: "settimeofday", plain: eperm, withAdmin: eperm, withCapOnly: "CAP_SYS_TIME"},
		{name: "mbind", plain: eperm, withAdmin: eperm, withCapOnly: "CAP_SYS_NICE"},
		{name: "open_by_handle_at", plain: eperm, withAdmin: eperm, withCapOnly: "CAP_DAC_READ_SEARCH"},
		{name: "iopl", plain: eperm, withAdmin: eperm, withCapOnly: "CAP_SYS_RAWIO", notOnArm: true},
		{name: "keyctl", plain: eperm, withAdmin: eperm},
		{name: "add_key", plain: eperm, withAdmin: eperm},
		{name: "io_uring_setup", plain: eperm, withAdmin: eperm},
		{name: "userfaultfd", plain: eperm, withAdmin: eperm},
		{name: "kexec_load", plain: eperm, withAdmin: eperm},
		{name: "pivot_root", plain: eperm, withAdmin: eperm},

		{name: "clone", args: []uint64{uint64(unix.SIGCHLD)}, plain: allow, withAdmin: allow},
		{name: "clone", args: []uint64{unix.CLONE_VM | unix.CLONE_THREAD}, plain: allow, withAdmin: allow},
		{name: "clone", args: []uint64{unix.CLONE_NEWUSER}, plain: eperm, withAdmin: allow},
		{name: "clone", args: []uint64{unix.CLONE_NEWNET | uint64(unix.SIGCHLD)}, plain: eperm, withAdmin: allow},
		{name: "clone3", plain: enosys, withAdmin: allow},

		{name: "personality", args: []uint64{0}, plain: allow, withAdmin: allow},
		{name: "personality", args: []uint64{8}, plain: allow, withAdmin: allow},
		{name: "personality", args: []uint64{0x20008}, plain: allow, withAdmin: allow},
		{name: "personality", args: []uint64{0xffffffff}, plain: allow, withAdmin: allow},
		{name: "personality", args: []uint64{0x0040000}, plain: eperm, withAdmin: eperm}, // ADDR_NO_RANDOMIZE

		{name: "socket", args: []uint64{unix.AF_UNIX}, plain: allow, withAdmin: allow},
		{name: "socket", args: []uint64{unix.AF_INET6}, plain: allow, withAdmin: allow},
		{name: "socket", args: []uint64{unix.AF_NETLINK}, plain: allow, withAdmin: allow},
		{name: "socket", args: []uint64{unix.AF_ALG}, plain: eperm, withAdmin: eperm},
		{name: "socket", args: []uint64{unix.AF_VSOCK}, plain: eperm, withAdmin: eperm},
		{name: "socket", args: []uint64{unix.AF_APPLETALK}, plain: eperm, withAdmin: eperm},
		{name: "socket", args: []uint64{1<<32 | unix.AF_INET}, plain: eperm, withAdmin: eperm},

		{name: "file_getattr", plain: enosys, withAdmin: enosys}, // newer than the profile
	} {
		for arch, native := range map[string]seccomp.Architecture{"amd64": seccomp.X86_64, "arm64": seccomp.AArch64} {
			if c.notOnArm && arch == "arm64" {
				continue
			}
			made := makeCall(native, c.name, c.args...)
			if got := judge(t, compile(t, seccomp.RuntimeDefault(), arch), made); got != c.plain {
				t.Errorf("%s: %s(%x): %v, want %v", arch, c.name, c.args, got, c.plain)
			}
			if got := judge(t, compile(t, seccomp.RuntimeDefault(), arch, admin), made); got != c.withAdmin {
				t.Errorf("%s with CAP_SYS_ADMIN: %s(%x): %v, want %v", arch, c.name, c.args, got, c.withAdmin)
			}
			if c.withCapOnly == "" {
				continue
			}
			if got := judge(t, compile(t, seccomp.RuntimeDefault(), arch, c.withCapOnly), made); got != allow {
				t.Errorf("%s with %s: %s: %v, want it allowed", arch, c.withCapOnly, c.name, got)
			}
		}
	}
}

// The same profile holds for the other calling conventions of a machine, with their own numbers.
func TestRuntimeDefaultOnOtherConventions(t *testing.T) {
	for _, c := range []struct {
		arch string
		call call
		want seccomp.Action
	}{
		{"amd64", makeCall(seccomp.X86, "getpid"), allow},
		{"amd64", makeCall(seccomp.X86, "mount"), eperm},
		{"amd64", makeCall(seccomp.X86, "clone3"), enosys},
		{"amd64", makeCall(seccomp.X86, "clone", unix.CLONE_NEWNS), eperm},
		{"amd64", makeCall(seccomp.X86, "socket", unix.AF_VSOCK), eperm},
		{"amd64", makeCall(seccomp.X86, "socket", unix.AF_INET), allow},
		{"amd64", makeCall(seccomp.X86, "clock_gettime64"), allow},
		{"amd64", makeCall(seccomp.X32, "read"), allow},
		{"amd64", makeCall(seccomp.X32, "execve"), allow},
		{"amd64", makeCall(seccomp.X32, "mount"), eperm},
		{"amd64", call{number: 0x40000000 + 600, audit: audits[seccomp.X32]}, enosys},
		{"arm64", makeCall(seccomp.ARM, "read"), allow},
		{"arm64", makeCall(seccomp.ARM, "set_tls"), allow},
		{"arm64", makeCall(seccomp.ARM, "usr26"), enosys},
		{"arm64", makeCall(seccomp.ARM, "arm_sync_file_range"), allow},
		{"arm64", makeCall(seccomp.ARM, "mount"), eperm},
		{"amd64", makeCall(seccomp.ARM, "read"), seccomp.KillProcess},
		{"arm64", makeCall(seccomp.X86_64, "read"), seccomp.KillProcess},
	} {
		if got := judge(t, compile(t, seccomp.RuntimeDefault(), c.arch), c.call); got != c.want {
			t.Errorf("%s: %+v: %v, want %v", c.arch, c.call, got, c.want)
		}
	}
}

// The program runs for every call of a container that the kernel cannot skip it for.
func TestRuntimeDefaultIsQuick(t *testing.T) {
	filter := compile(t, seccomp.RuntimeDefault(), "amd64")
	longest, total := 0, 0
	numbers, _ := seccomp.Numbers(seccomp.X86_64)
	for name := range numbers {
		if name == "socket" {
			continue
		}
		_, steps, err := run(filter, makeCall(seccomp.X86_64, name))
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, steps)
		total += steps
	}
	t.Logf("%d instructions; a call runs %d on average and %d at most", len(filter), total/len(numbers), longest)
	if longest > 24 {
		t.Errorf("a call runs %d instructions", longest)
	}
}
