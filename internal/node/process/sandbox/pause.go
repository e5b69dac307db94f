package sandbox

import (
	"debug/elf"
	"encoding/binary"
	"os"
	goruntime "runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"github.com/stint-dev/stint/internal/node/process/stage"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// pauseCode is the program of process 1 of a pod whose containers share a pid namespace: it waits for signals, and is sent
// none. It is machine code because this program itself would take milliseconds to start and megabytes to run.
var pauseCode = map[string][]byte{
	"amd64": {
		0xb8, 34, 0, 0, 0, // mov eax, pause
		0x0f, 0x05, // syscall
		0xeb, 0xf7, // jmp to the first instruction
	},
	"arm64": {
		0x28, 0x09, 0x80, 0xd2, // mov x8, ppoll: the other registers are zero
		0x01, 0x00, 0x00, 0xd4, // svc 0
		0xfe, 0xff, 0xff, 0x17, // b to the first instruction
	},
}

// newPause returns a file in memory that holds the program. Who may not read the file may not trace its process.
func newPause() (*os.File, error) {
	const address = 0x400000
	f, err := stage.NewExecutable("pause", stage.Segment{Address: address, Flags: elf.PF_R | elf.PF_X, Data: pauseCode[goruntime.GOARCH]})
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o111); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// pauseFilter lets only those system calls pass by which the program is executed, and which it makes.
var pauseFilter = sync.OnceValues(func() ([]runtime.Instruction, error) {
	names := []string{"execveat", "exit", "pause", "ppoll", "restart_syscall", "rt_sigreturn"}
	return compile(seccomp.Profile{Default: seccomp.KillProcess, Rules: []seccomp.Rule{{Names: names, Action: seccomp.Allow}}})
})

// firstProgram lists what process 1 of a pod does: it gives up all that a container could gain by tracing it.
func (p *podPIDs) firstProgram(network *os.File, filter []runtime.Instruction) *stage.Program {
	id := p.sandbox.users.last()
	c := &child{
		Program: &stage.Program{}, facts: p.sandbox.child, singleID: p.sandbox.users.hasSingleID(), user: runtime.User{UID: id, GID: id},
		container: &runtime.Container{NoNewPrivileges: true, Root: &runtime.Root{Seccomp: filter}},
	}
	c.detach()
	ignore := make([]byte, 32)
	ignore[0] = 1
	c.Do("ignore SIGCHLD", unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), c.Bytes(ignore), 0, signalSetSize)
	c.enterNetwork(network)
	c.enterEmptyRoot(p.sandbox.views.stage())
	// No descriptor is left when the program is executed.
	c.Do("open the program", unix.SYS_DUP3, c.FD(int(p.pause.Fd())), 0, unix.O_CLOEXEC)
	c.CloseFrom(1)
	c.limit(unix.RLIMIT_CPU, 1)
	c.limit(unix.RLIMIT_STACK, 64<<10)
	c.becomeUser()
	header := binary.NativeEndian.AppendUint32(nil, unix.LINUX_CAPABILITY_VERSION_3)
	c.Do("drop all capabilities", unix.SYS_CAPSET, c.Bytes(append(header, 0, 0, 0, 0)), c.Bytes(make([]byte, 2*12)))
	c.filter()
	c.Do(stepRunProgram, unix.SYS_EXECVEAT, 0, c.String(""), c.Strings([]string{"pause"}), c.Strings(nil), unix.AT_EMPTY_PATH)
	return c.Program
}

// limit sets a limit that the process cannot raise.
func (c *child) limit(resource uintptr, most uint64) {
	pair := binary.NativeEndian.AppendUint64(nil, most)
	c.Do("set a limit", unix.SYS_PRLIMIT64, 0, resource, c.Bytes(binary.NativeEndian.AppendUint64(pair, most)), 0)
}

// enterEmptyRoot leaves the process with a mount namespace of one empty directory.
func (c *child) enterEmptyRoot(stage string) {
	const flags = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	const step = "enter an empty directory"
	here := c.String(".")
	c.Do(step, unix.SYS_MOUNT, c.String("tmpfs"), c.String(stage), c.String("tmpfs"), flags, c.String("mode=0555"))
	c.Do(step, unix.SYS_CHDIR, c.String(stage))
	c.Do(step, unix.SYS_PIVOT_ROOT, here, here)
	c.Do(step, unix.SYS_UMOUNT2, here, unix.MNT_DETACH)
	c.Do(step, unix.SYS_CHDIR, c.String("/"))
}
