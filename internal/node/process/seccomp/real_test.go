package seccomp_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"golang.org/x/sys/unix"
)

// self returns a command that runs a prober.
func self(t *testing.T) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(binary, prober)
}

// thisMachine compiles a profile for the machine that the test runs on.
func thisMachine(t *testing.T, p seccomp.Profile, caps ...string) []unix.SockFilter {
	t.Helper()
	host, err := seccomp.ThisHost()
	if err != nil {
		t.Fatal(err)
	}
	filter, err := p.Compile(caps, host)
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

const nobody = 65534

// users are the users as which the test can run probers.
func users() map[string]int {
	if os.Getuid() != 0 {
		return map[string]int{"the user of the test": 0}
	}
	return map[string]int{"root": 0, "nobody": nobody}
}

// The kernel accepts the built-in profile and enforces it.
func TestKernelUnderRuntimeDefault(t *testing.T) {
	p := seccomp.RuntimeDefault()
	want := []struct {
		call  realCall
		errno unix.Errno
	}{
		{realCall{"getpid", [6]uint64{}}, 0},
		{realCall{"personality", [6]uint64{0xffffffff}}, 0},
		{realCall{"personality", [6]uint64{0}}, 0},
		{realCall{"personality", [6]uint64{0x1000000}}, unix.EPERM},
		{realCall{"socket", [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM}}, 0},
		{realCall{"socket", [6]uint64{unix.AF_VSOCK, unix.SOCK_STREAM}}, unix.EPERM},
		{realCall{"mount", [6]uint64{}}, unix.EPERM},
		{realCall{"keyctl", [6]uint64{^uint64(0)}}, unix.EPERM},
		{realCall{"unshare", [6]uint64{}}, unix.EPERM},
		{realCall{"clone", [6]uint64{unix.CLONE_SIGHAND}}, unix.EINVAL}, // the kernel's own answer
		{realCall{"clone", [6]uint64{unix.CLONE_SIGHAND | unix.CLONE_NEWUSER}}, unix.EPERM},
		{realCall{"clone3", [6]uint64{}}, unix.ENOSYS},
		{realCall{"rseq_slice_yield", [6]uint64{}}, unix.ENOSYS}, // newer than the profile
	}
	for name, user := range users() {
		t.Run(name, func(t *testing.T) {
			q := probe{Filter: thisMachine(t, p), Flags: p.Flags, User: user}
			for _, w := range want {
				q.Calls = append(q.Calls, w.call)
			}
			got, err := ask(self(t), q)
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				if got[i] != w.errno {
					t.Errorf("%s: error %d, want %d", w.call, got[i], w.errno)
				}
			}
		})
	}
}

// The kernel and the interpreter of these tests have the same verdicts.
func TestKernelAgreesWithInterpreter(t *testing.T) {
	p := seccomp.RuntimeDefault()
	p.Default = unlike
	for name, caps := range map[string][]string{"no capability": nil, "CAP_SYS_ADMIN": {admin}} {
		t.Run(name, func(t *testing.T) {
			filter := thisMachine(t, p, caps...)
			calls := harmless()
			got, err := ask(self(t), probe{Filter: filter, Flags: p.Flags, User: users()["nobody"], Calls: calls})
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range calls {
				verdict := judge(t, filter, makeCall(native[runtime.GOARCH], c.Name, c.Args[:]...))
				if (verdict == unlike) != (got[i] == unlikeErrno) {
					t.Errorf("%s: error %d from the kernel, %v from the interpreter", c, got[i], verdict)
				}
			}
		})
	}
}

// The error number of an action that the kernel itself never returns.
const (
	unlikeErrno = unix.Errno(199)
	unlike      = seccomp.Action(unix.SECCOMP_RET_ERRNO | uint32(unlikeErrno))
)

// A call that kills ends the process with SIGSYS.
func TestKernelKills(t *testing.T) {
	p := seccomp.Profile{Default: allow, Rules: []seccomp.Rule{{Names: []string{"getpid"}, Action: seccomp.KillProcess}}}
	_, err := ask(self(t), probe{Filter: thisMachine(t, p), Calls: []realCall{{Name: "getpid"}}})
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("%v, want the end of the process", err)
	}
	if status := exit.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != unix.SIGSYS {
		t.Errorf("status %v, want SIGSYS", err)
	}
}

// The kernel accepts programs of the largest length.
func TestKernelTakesLongPrograms(t *testing.T) {
	p := seccomp.Profile{Default: allow}
	numbers, _ := seccomp.Numbers(native[runtime.GOARCH])
	for name, number := range numbers {
		p.Rules = append(p.Rules, seccomp.Rule{Names: []string{name}, Action: eperm, Args: []seccomp.Arg{
			{Index: 0, Op: seccomp.MaskedEqual, Value: ^uint64(1), ValueTwo: 1<<40 | uint64(number)<<1},
		}})
	}
	filter := thisMachine(t, p)
	calls := []realCall{{"getpid", [6]uint64{}}, {"getpid", [6]uint64{1<<40 | uint64(numbers["getpid"])<<1}}}
	got, err := ask(self(t), probe{Filter: filter, Calls: calls})
	if err != nil {
		t.Fatal(err)
	}
	if len(filter) < 2000 || got[0] != 0 || got[1] != unix.EPERM {
		t.Errorf("%d instructions, errors %d", len(filter), got)
	}
}

func TestLoadRefusesAnEmptyProgram(t *testing.T) {
	if err := seccomp.Load(nil, 0); err == nil {
		t.Error("loaded nothing")
	}
}
