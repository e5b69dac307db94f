package seccomp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"golang.org/x/sys/unix"
)

// prober is the argument that makes the test binary a prober: a process that loads a filter, makes system calls, and prints
// their results.
const prober = "stint-seccomp-prober"

// probe is what a prober has to do. It reads it from its standard input.
type probe struct {
	Filter []unix.SockFilter // nil if the process has a filter already
	Flags  uint
	User   int // to become before the filter
	Calls  []realCall
}

// realCall is a system call on this machine.
type realCall struct {
	Name string
	Args [6]uint64
}

func (c realCall) String() string { return fmt.Sprintf("%s(%#x)", c.Name, c.Args[:3]) }

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == prober {
		if err := answer(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// answer is the prober. It loads the filter only into its own thread, so that the other threads of the Go runtime can run.
func answer() error {
	runtime.LockOSThread()
	var p probe
	if err := json.NewDecoder(os.Stdin).Decode(&p); err != nil {
		return err
	}
	user := uintptr(p.User)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, user, user, user); p.User != 0 && errno != 0 {
		return fmt.Errorf("change the user: %w", errno)
	}
	if p.Filter != nil {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		if err := seccomp.Load(p.Filter, p.Flags); err != nil {
			return err
		}
	}
	numbers, _ := seccomp.Numbers(native[runtime.GOARCH])
	results := make([]unix.Errno, len(p.Calls))
	for i, c := range p.Calls {
		a := c.Args
		_, _, results[i] = unix.RawSyscall6(uintptr(numbers[c.Name]), uintptr(a[0]), uintptr(a[1]), uintptr(a[2]),
			uintptr(a[3]), uintptr(a[4]), uintptr(a[5]))
	}
	return json.NewEncoder(os.Stdout).Encode(results)
}

var native = map[string]seccomp.Architecture{"amd64": seccomp.X86_64, "arm64": seccomp.AArch64}

// ask runs a prober by a command that starts this binary with the argument prober.
func ask(command *exec.Cmd, p probe) ([]unix.Errno, error) {
	question, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	command.Stdin = bytes.NewReader(question)
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.String())
	}
	var results []unix.Errno
	if err := json.Unmarshal(output, &results); err != nil {
		return nil, fmt.Errorf("%w in %q: %s", err, output, stderr.String())
	}
	return results, nil
}

// harmless are calls that change nothing even if they are allowed, because their arguments are invalid or have no effect.
func harmless() []realCall {
	const nowhere, no = ^uint64(0), ^uint64(0)
	calls := []realCall{
		{"getpid", [6]uint64{}},
		{"getuid", [6]uint64{}},
		{"read", [6]uint64{no}},
		{"openat", [6]uint64{no, nowhere}},
		{"memfd_create", [6]uint64{nowhere}},
		{"ptrace", [6]uint64{no, no}},
		{"process_vm_readv", [6]uint64{no}},
		{"personality", [6]uint64{0}},
		{"personality", [6]uint64{0xffffffff}},
		{"personality", [6]uint64{0x1000000}},
		{"socket", [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM}},
		{"socket", [6]uint64{unix.AF_INET, unix.SOCK_DGRAM}},
		{"socket", [6]uint64{unix.AF_ALG, unix.SOCK_SEQPACKET}},
		{"socket", [6]uint64{unix.AF_VSOCK, unix.SOCK_STREAM}},
		{"socket", [6]uint64{unix.AF_APPLETALK, unix.SOCK_DGRAM}},
		{"clone", [6]uint64{unix.CLONE_SIGHAND}},
		{"clone", [6]uint64{unix.CLONE_SIGHAND | unix.CLONE_NEWUSER}},
		{"clone", [6]uint64{unix.CLONE_SIGHAND | unix.CLONE_NEWNS}},
		{"clone3", [6]uint64{nowhere, 64}},
		{"mount", [6]uint64{nowhere, nowhere, nowhere}},
		{"umount2", [6]uint64{nowhere, no}},
		{"unshare", [6]uint64{0}},
		{"setns", [6]uint64{no}},
		{"chroot", [6]uint64{nowhere}},
		{"pivot_root", [6]uint64{nowhere, nowhere}},
		{"keyctl", [6]uint64{no}},
		{"add_key", [6]uint64{nowhere, nowhere}},
		{"bpf", [6]uint64{no}},
		{"perf_event_open", [6]uint64{nowhere}},
		{"kcmp", [6]uint64{no, no}},
		{"init_module", [6]uint64{nowhere}},
		{"mbind", [6]uint64{no, 1, no}},
		{"open_by_handle_at", [6]uint64{no, nowhere}},
		{"userfaultfd", [6]uint64{no}},
		{"syslog", [6]uint64{no}},
		{"sethostname", [6]uint64{nowhere, no}},
		{"quotactl", [6]uint64{no, nowhere}},
		{"swapon", [6]uint64{nowhere}},
	}
	return calls
}
